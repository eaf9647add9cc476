// The TypeScript SDK of the v2 line. Mode `auto` probes server/discover and
// speaks 2026-07-28 where the server does; `legacy` never probes.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { answers, capabilities, clientInfo } from './answers.mjs';

/** Connects and returns the connection in the shape that commands.mjs works on. */
export async function connect({ url, capable, mode }) {
  const client = new Client(clientInfo(`v2-${mode}`), {
    capabilities: capable ? capabilities : {},
    versionNegotiation: { mode },
  });
  const seen = { elicitation: 0, sampling: 0, roots: 0 };
  if (capable) {
    client.setRequestHandler('elicitation/create', async (r) => answers.elicitation(r.params, seen));
    client.setRequestHandler('sampling/createMessage', async (r) => answers.sampling(r.params, seen));
    client.setRequestHandler('roots/list', async () => answers.roots(seen));
  }
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  return {
    seen,
    revision: client.getNegotiatedProtocolVersion(),
    session: transport.sessionId,
    server: client.getServerVersion(),
    listTools: async () => (await client.listTools(undefined, { cacheMode: 'refresh' })).tools,
    listPrompts: async () => (await client.listPrompts(undefined, { cacheMode: 'refresh' })).prompts,
    listResources: async () => (await client.listResources(undefined, { cacheMode: 'refresh' })).resources,
    listTemplates: async () => (await client.listResourceTemplates(undefined, { cacheMode: 'refresh' })).resourceTemplates,
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
    readResource: (uri) => client.readResource({ uri }),
    // The revisions without sessions have no ping.
    ping: async () => (client.getNegotiatedProtocolVersion() < '2026-07-28' ? client.ping() : undefined),
    callTool: (name, args, options) => client.callTool({ name, arguments: args }, options),
    close: async () => {
      if (transport.sessionId) await transport.terminateSession().catch(() => {});
      await client.close();
    },
    abandon: () => client.close(),
  };
}
