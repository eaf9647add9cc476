// The command `talk`: one connection, told what to do line by line.
//
// Each line of stdin is one JSON object; each is answered by one event, and the
// end of stdin by a polite goodbye and the event `closed`.
//
//   {"do":"tools"|"prompts"|"resources"|"templates"}   names, or URIs
//   {"do":"prompt","name":N,"args":{}}  {"do":"read","name":URI}  {"do":"ping"}
//   {"do":"call","name":N,"args":{},"tell":true,"timeoutMs":3000}
//      tell: an event for each progress
//   {"do":"cancel","name":N,"args":{},"count":1,"afterMs":300}
//      calls and gives up, at the first progress or after a while
//
// The event `result` says how often the server asked during the call (seen) and
// since the beginning (total). What fails is the event `failed` with code, data and how long it took.
import { createInterface } from 'node:readline';
import { describe, opened, print } from './commands.mjs';

const verbs = {
  async tools(c) {
    return ['tools', { names: (await c.listTools()).map((t) => t.name) }];
  },
  async prompts(c) {
    return ['prompts', { names: (await c.listPrompts()).map((p) => p.name) }];
  },
  async resources(c) {
    return ['resources', { names: (await c.listResources()).map((r) => r.uri) }];
  },
  async templates(c) {
    return ['templates', { names: (await c.listTemplates()).map((t) => t.uriTemplate) }];
  },
  async prompt(c, { name, args = {} }) {
    return ['prompt', { result: await c.getPrompt(name, args) }];
  },
  async read(c, { name }) {
    return ['read', { result: await c.readResource(name) }];
  },
  async ping(c) {
    await c.ping();
    return ['pong'];
  },
  async call(c, { name, args = {}, tell = false, timeoutMs }, timeout) {
    let progress = 0;
    const before = { ...c.seen };
    const onprogress = () => {
      progress++;
      if (tell) print('progress');
    };
    const result = await c.callTool(name, args, { timeout: timeoutMs ?? timeout, onprogress });
    const seen = Object.fromEntries(Object.entries(c.seen).map(([kind, n]) => [kind, n - before[kind]]));
    return ['result', { progress, seen, total: c.seen, result }];
  },
  async cancel(c, { name, args = {}, count = 1, afterMs = 0 }, timeout) {
    let cancelled = 0;
    for (let i = 0; i < count; i++) {
      const control = new AbortController();
      const give = () => control.abort('enough');
      const late = afterMs > 0 ? setTimeout(give, afterMs) : undefined;
      const onprogress = afterMs > 0 ? undefined : give;
      await c.callTool(name, args, { timeout, signal: control.signal, onprogress }).catch((err) => {
        if (control.signal.aborted) cancelled++;
        else throw err;
      });
      clearTimeout(late);
    }
    return ['cancelled', { count: cancelled }];
  },
};

export async function talk({ connect, timeoutMs }) {
  const c = await opened(connect);
  for await (const line of createInterface({ input: process.stdin })) {
    const what = JSON.parse(line);
    const begun = Date.now();
    try {
      print(...(await verbs[what.do](c, what, timeoutMs)));
    } catch (err) {
      print('failed', { ...describe(err), data: err?.data, ms: Date.now() - begun });
    }
  }
  await c.close();
  print('closed');
  return 0;
}
