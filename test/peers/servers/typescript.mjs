#!/usr/bin/env node
// A server on the TypeScript SDK of the v2 line, both eras at one URL (without
// sessions) or over pipes. It offers what ../go/cmd/server offers.
//
//   typescript.mjs stdio|http        over HTTP the first line is the endpoint
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

let cancels = 0;
const text = (t) => ({ content: [{ type: 'text', text: String(t) }] });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function build() {
  const s = new McpServer({ name: 'peer-typescript', version: '1.0.0' }, { capabilities: { logging: {} } });
  s.registerTool('echo', { inputSchema: z.object({ message: z.string() }) }, async ({ message }) => text(message));
  s.registerTool('count', { inputSchema: z.object({ n: z.number().int() }) }, async ({ n }, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (let i = 1; i <= n; i++) {
      if (progressToken !== undefined) {
        await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: i, total: n, message: 'counting' } });
      }
      await pause(10);
    }
    return text(`counted ${n}`);
  });
  s.registerTool('wait', {}, async (ctx) => {
    await new Promise((resolve) => ctx.mcpReq.signal.addEventListener('abort', resolve));
    cancels++;
    return text('cancelled');
  });
  s.registerTool('cancels', {}, async () => text(cancels));
  const ask = (name, question, read) =>
    s.registerTool(name, {}, async (ctx) => {
      const answer = ctx.mcpReq.inputResponses?.q;
      return answer ? text(read(answer)) : inputRequired({ inputRequests: { q: question() }, requestState: 'asked' });
    });
  ask('ask', () => inputRequired.elicit({ message: 'who are you', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } }), (a) => `${a.action} ${a.content?.name}`);
  ask('sample', () => inputRequired.createMessage({ maxTokens: 10, messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }] }), (a) => `${a.model} ${a.content.text}`);
  ask('where', () => inputRequired.listRoots(), (a) => a.roots[0].uri);
  s.registerPrompt('greet', { argsSchema: z.object({ who: z.string() }) }, async ({ who }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Greet ${who}` } }] }));
  s.registerResource('note', 'peer://note', { mimeType: 'text/plain' }, async (uri) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'a note' }] }));
  return s;
}

if (process.argv[2] === 'http') {
  const server = createServer(toNodeHandler(createMcpHandler(build)));
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
} else {
  serveStdio(build);
}
