import { expect } from 'vitest';
import { schema2020 } from '../../support/conformance-server/samples.ts';
import { type Feature, inLegacy } from './support/feature.ts';
import { type Result, textOf } from './support/peer.ts';
import { described, edgeNames, everyContent } from './support/tools.ts';

const toolsOf = ({ tools }: Result): Record<string, unknown>[] => tools as Record<string, unknown>[];

/** What tools say of themselves, and what they give. */
export const toolFeatures: readonly Feature[] = [
  {
    rule: 'a tool is listed with its title, annotations, icons, schemas and _meta (C1-07, C8-03, C8-04)',
    async prove({ peer }) {
      const listed = toolsOf(await peer.listTools()).find(({ name }) => name === described.name);
      expect(listed).toMatchObject(described);
    },
  },
  {
    rule: 'a JSON Schema 2020-12 arrives as it was written (C1-05)',
    async prove({ peer }) {
      const listed = toolsOf(await peer.listTools()).find(({ name }) => name === 'schema');
      expect(listed?.inputSchema).toEqual(schema2020);
    },
  },
  {
    rule: 'names of tools keep their case and signs, and lists their order (C8-06)',
    async prove({ peer }) {
      const names = toolsOf(await peer.listTools()).map(({ name }) => name);
      expect(names.slice(0, edgeNames.length)).toEqual(edgeNames);
      expect(toolsOf(await peer.listTools()).map(({ name }) => name)).toEqual(names);
      for (const name of edgeNames) expect(textOf(await peer.call(name))).toBe(name);
    },
  },
  {
    rule: 'every kind of content arrives whole, and _meta with it (C8-03)',
    async prove({ peer }) {
      const { content, _meta } = await peer.call('contents');
      expect(content).toEqual(everyContent);
      expect(_meta).toMatchObject({ 'example.com/by': 'contents' });
    },
  },
  {
    rule: 'structured content arrives beside its text (C8-05)',
    async prove({ peer }) {
      const result = await peer.call(described.name, { a: 1, b: 2.5 });
      expect([result.structuredContent, textOf(result)]).toEqual([{ sum: 3.5 }, '{"sum":3.5}']);
    },
  },
  {
    rule: 'a tool that fails is a result, and one that does not exist an error -32602 (C8-03)',
    async prove({ peer }) {
      expect(await peer.call('fails')).toMatchObject({
        isError: true,
        content: [{ text: 'The service is down.' }],
      });
      const thrown = await peer.call('throws');
      expect([thrown.isError, textOf(thrown)]).toEqual([true, expect.stringContaining('It broke.')]);
      await expect(peer.call('no such tool')).rejects.toMatchObject({ code: -32602 });
    },
  },
  {
    rule: 'input that does not fit the schema, in its own dialect, is a failure of the tool (C1-05, C8-03)',
    where: ({ form }) => form.sdk === 'v2',
    async prove({ peer }) {
      expect(textOf(await peer.call('schema', { phone: '1', contactMethod: 'phone' }))).toBe('fits');
      expect(await peer.call('schema', { email: 'a', contactMethod: 'phone' })).toMatchObject({
        isError: true,
      });
    },
  },
  {
    rule: 'trace context and foreign keys in _meta reach the tool as they are (C1-08)',
    async prove({ peer }) {
      const meta = {
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        tracestate: 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
        baggage: 'userId=alice,server=DF%2028',
        'example.com/deep': { list: [1, 'two', null] },
      };
      expect(JSON.parse(textOf(await peer.call('meta', {}, {}, meta)))).toMatchObject(meta);
    },
  },
  {
    rule: 'client and server answer each other’s ping (C6-02)',
    where: inLegacy,
    async prove({ peer }) {
      expect(await peer.ping()).toEqual({});
      expect(textOf(await peer.call('ping'))).toBe('{}');
    },
  },
];
