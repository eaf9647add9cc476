#!/usr/bin/env node
// One MCP client for the tests and the demo, on either TypeScript SDK.
//
//   client.mjs --sdk v1|v1-sse|v2|v2-legacy --url URL COMMAND [ARGS]
//
// Commands: list | call NAME [JSON] | spread NAME [COUNT] [MEMBER] | loop NAME [JSON] | hold |
//   talk (see talk.mjs)
// Output: JSON lines on stdout. Exit code 0: done; 1: the server refused or
// could not be reached (said on stderr); 2: wrong usage.
import { parseArgs } from 'node:util';
import * as commands from './commands.mjs';
import { talk } from './talk.mjs';

const verbs = {
  list: commands.list,
  call: commands.call,
  spread: commands.spread,
  loop: commands.loop,
  hold: commands.hold,
  talk,
};

const { values: o, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sdk: { type: 'string', default: 'v2' },
    url: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    timeout: { type: 'string', default: '60' },
    // Without capabilities the servers hide the tools that ask back.
    incapable: { type: 'boolean', default: false },
  },
});

const sdks = {
  v1: { file: './sdk-v1.mjs' },
  'v1-sse': { file: './sdk-v1.mjs', mode: 'sse' },
  v2: { file: './sdk-v2.mjs', mode: 'auto' },
  'v2-legacy': { file: './sdk-v2.mjs', mode: 'legacy' },
};

const [verb, ...args] = positionals;
const sdk = sdks[o.sdk];
if (!sdk || !o.url || !Object.hasOwn(verbs, verb ?? '')) {
  console.error('usage: client.mjs --sdk v1|v2|v2-legacy --url URL list | call NAME [JSON] | spread NAME [COUNT] [MEMBER] | loop NAME [JSON] | hold | talk');
  process.exit(2);
}

try {
  const { connect } = await import(sdk.file);
  const options = {
    connect: () => connect({ url: o.url, mode: sdk.mode, capable: !o.incapable }),
    seconds: Number(o.seconds),
    timeoutMs: Number(o.timeout) * 1000,
  };
  process.exitCode = await verbs[verb](options, ...args);
} catch (err) {
  console.error(JSON.stringify(commands.describe(err)));
  process.exitCode = 1;
}
// Sockets kept alive by fetch must not hold the process.
process.exit();
