// The commands of the peer client. Each prints JSON lines, one event a line,
// on stdout, and returns the exit code.

export const print = (event, fields = {}) => console.log(JSON.stringify({ event, ...fields }));

export const describe = (err) => ({
  error: String(err?.message ?? err),
  code: err?.code,
  // fetch hides the socket error in cause.
  cause: err?.cause?.code ?? (err?.cause ? String(err.cause.message ?? err.cause) : undefined),
});

export async function opened(connect) {
  const c = await connect();
  print('connected', { revision: c.revision, session: Boolean(c.session), server: c.server });
  return c;
}

/** list: connect, list the tools. */
export async function list({ connect }) {
  const c = await opened(connect);
  const tools = await c.listTools();
  print('tools', { names: tools.map((t) => t.name) });
  await c.close();
  return 0;
}

/** call NAME [JSON]: connect, call one tool, print the whole result. */
export async function call({ connect, timeoutMs }, name, json = '{}') {
  const c = await opened(connect);
  let progress = 0;
  const result = await c.callTool(name, JSON.parse(json), { timeout: timeoutMs, onprogress: () => progress++ });
  print('result', { tool: name, progress, seen: c.seen, result });
  await c.close();
  return result.isError ? 1 : 0;
}

/**
 * spread NAME [COUNT] [MEMBER]: COUNT connections at once, each calls NAME once.
 * With more than one pod behind the address the answers come from several.
 * MEMBER is a member of the JSON that the tool answers with; how often each of
 * its values came is printed instead of the results.
 */
export async function spread({ connect, timeoutMs }, name, count = '12', member = '') {
  const all = await Promise.all(
    Array.from({ length: Number(count) }, async () => {
      const c = await connect();
      const result = await c.callTool(name, {}, { timeout: timeoutMs });
      await c.close();
      return { revision: c.revision, result };
    }),
  );
  if (member) {
    const counts = {};
    for (const { result } of all) {
      const value = JSON.parse(result.content[0].text)[member];
      counts[value] = (counts[value] ?? 0) + 1;
    }
    print('tally', { tool: name, member, counts });
  } else {
    for (const r of all) print('result', { tool: name, ...r });
  }
  return all.some((r) => r.result.isError) ? 1 : 0;
}

/**
 * loop NAME [JSON]: calls without pause until --seconds are over or SIGTERM.
 * A failed call is reported and never repeated; the next call goes through a
 * new connection, and how often that was needed is in the summary.
 */
export async function loop({ connect, timeoutMs, seconds }, name, json = '{}') {
  const args = JSON.parse(json);
  let stop = false;
  const finish = () => (stop = true);
  process.once('SIGTERM', finish);
  process.once('SIGINT', finish);
  const until = Date.now() + seconds * 1000;
  const sum = { calls: 0, failed: 0, connections: 0 };
  let c;
  while (!stop && Date.now() < until) {
    const begun = Date.now();
    try {
      if (!c) {
        c = await opened(connect);
        sum.connections++;
      }
      sum.calls++;
      const result = await c.callTool(name, args, { timeout: timeoutMs });
      if (result.isError) sum.failed++;
      print('call', { n: sum.calls, ms: Date.now() - begun, ok: !result.isError });
    } catch (err) {
      sum.failed++;
      print('call', { n: sum.calls, ms: Date.now() - begun, ok: false, ...describe(err) });
      await c?.abandon().catch(() => {});
      c = undefined;
      // A server that is away must not turn this into a busy loop.
      await new Promise((r) => setTimeout(r, 200));
    }
  }
  await c?.close().catch(() => {});
  print('summary', sum);
  return 0;
}

/** hold: connect and keep the session open, its GET stream included, until told to end. */
export async function hold({ connect, seconds }) {
  const c = await opened(connect);
  await new Promise((resolve) => {
    const t = setTimeout(resolve, seconds * 1000);
    for (const s of ['SIGTERM', 'SIGINT']) {
      process.once(s, () => {
        clearTimeout(t);
        resolve();
      });
    }
  });
  await c.close();
  return 0;
}
