import { describe, expect, it } from 'vitest';
import { cleanDefinition } from '../../../src/gateway/steps/clean-definition.ts';

const esc = '\u001b[2J';

describe('a definition', () => {
  it('is clean in its texts, those of parameters however deep included; data stay as they are', () => {
    const definition = {
      name: 'write',
      title: `a${esc}`,
      description: `b${esc}`,
      annotations: { title: `c${esc}` },
      inputSchema: {
        type: 'object',
        properties: {
          description: { type: 'string', description: `d${esc}`, default: `e${esc}` },
          list: { anyOf: [{ items: { title: `f${esc}` } }] },
          default: { description: `g${esc}` },
        },
        $defs: { enum: { description: `h${esc}`, enum: [`i${esc}`] } },
      },
    };
    expect(cleanDefinition(definition)).toEqual({
      name: 'write',
      title: 'a',
      description: 'b',
      annotations: { title: 'c' },
      inputSchema: {
        type: 'object',
        properties: {
          description: { type: 'string', description: 'd', default: `e${esc}` },
          list: { anyOf: [{ items: { title: 'f' } }] },
          default: { description: 'g' },
        },
        $defs: { enum: { description: 'h', enum: [`i${esc}`] } },
      },
    });
  });

  it('that is clean stays the same object', () => {
    const definition = {
      name: 'a',
      inputSchema: { properties: { x: { description: 'fine' } }, anyOf: [{}] },
    };
    expect(cleanDefinition(definition)).toBe(definition);
  });

  it('that is too deep loses what is beyond', () => {
    let schema: Record<string, unknown> = { description: `deep${esc}` };
    for (let depth = 0; depth < 5000; depth++) schema = { items: schema };
    expect(JSON.stringify(cleanDefinition({ inputSchema: schema }))).not.toContain('deep');
  });
});
