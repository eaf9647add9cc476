// The TypeScript SDK of the v1 line: a legacy client, newest revision 2025-11-25.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { answers, capabilities, clientInfo } from './answers.mjs';

/** Opens one session and returns it in the shape that commands.mjs works on. */
export async function connect({ url, capable, mode }) {
  const client = new Client(clientInfo('v1'), { capabilities: capable ? capabilities : {} });
  const seen = { elicitation: 0, sampling: 0, roots: 0 };
  if (capable) {
    client.setRequestHandler(ElicitRequestSchema, async (r) => answers.elicitation(r.params, seen));
    client.setRequestHandler(CreateMessageRequestSchema, async (r) => answers.sampling(r.params, seen));
    client.setRequestHandler(ListRootsRequestSchema, async () => answers.roots(seen));
  }
  const transport = mode === 'sse' ? new SSEClientTransport(new URL(url)) : new StreamableHTTPClientTransport(new URL(url));
  let revision;
  // The SDK tells the negotiated revision to the transport only.
  const set = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (v) => {
    revision = v;
    set?.(v);
  };
  await client.connect(transport);
  return {
    seen,
    revision,
    session: transport.sessionId,
    server: client.getServerVersion(),
    listTools: async () => (await client.listTools()).tools,
    listPrompts: async () => (await client.listPrompts()).prompts,
    listResources: async () => (await client.listResources()).resources,
    listTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
    readResource: (uri) => client.readResource({ uri }),
    ping: () => client.ping(),
    callTool: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    close: async () => {
      await transport.terminateSession?.().catch(() => {});
      await client.close();
    },
    abandon: () => client.close(),
  };
}
