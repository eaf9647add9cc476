// What our clients answer when a server asks them something. Fixed answers, so
// that a test can look for them in a tool's result.

export const capabilities = { elicitation: { form: {} }, sampling: {}, roots: { listChanged: true } };

export const clientInfo = (line) => ({ name: `fairlead-peer-${line}`, version: '1.0.0' });

export const SAMPLED = 'sampled by the peer client';
export const ELICITED = 'elicited from the peer client';

export const answers = {
  elicitation(params, seen) {
    seen.elicitation++;
    if (params.mode === 'url') return { action: 'accept' };
    return { action: 'accept', content: fill(params.requestedSchema) };
  },
  sampling(params, seen) {
    seen.sampling++;
    return {
      model: 'peer-model',
      role: 'assistant',
      stopReason: 'endTurn',
      content: { type: 'text', text: SAMPLED },
    };
  },
  roots(seen) {
    seen.roots++;
    return { roots: [{ uri: 'file:///peer', name: 'peer' }] };
  },
};

/** Fills the required members of a flat form schema with legal values. */
function fill(schema = {}) {
  const out = {};
  for (const name of schema.required ?? Object.keys(schema.properties ?? {}).slice(0, 1)) {
    out[name] = value(schema.properties?.[name] ?? {});
  }
  return out;
}

function value(p) {
  if (p.default !== undefined) return p.default;
  if (p.enum) return p.enum[0];
  if (p.oneOf) return p.oneOf[0].const;
  switch (p.type) {
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return p.minimum ?? 1;
    case 'array':
      return [];
  }
  switch (p.format) {
    case 'email':
      return 'peer@example.com';
    case 'uri':
      return 'https://example.com/';
    case 'date':
      return '2026-07-28';
    case 'date-time':
      return '2026-07-28T00:00:00Z';
  }
  return ELICITED;
}
