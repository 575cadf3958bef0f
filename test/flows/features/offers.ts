import { expect } from 'vitest';
import { image } from '../../support/conformance-server/samples.ts';
import { type Feature, inModern } from './support/feature.ts';
import {
  capabilities,
  identity,
  instructions,
  manyValues,
  pageSize,
  resources,
  template,
} from './support/offers.ts';
import type { Peer, Result } from './support/peer.ts';
import { notFoundV1 } from './support/server-v1.ts';
import { notFoundV2 } from './support/server-v2.ts';
import { everyContent } from './support/tools.ts';

const completionOf = ({ completion }: Result) =>
  completion as { values: string[]; total?: number; hasMore?: boolean };
const allPrompt = { type: 'ref/prompt', name: 'all' };

async function pagesOf(peer: Peer): Promise<unknown[][]> {
  const pages: unknown[][] = [];
  for (let cursor: unknown; pages.length === 0 || cursor !== undefined; ) {
    const page = await peer.ask('resources/list', cursor === undefined ? {} : { cursor });
    pages.push(page.resources as unknown[]);
    cursor = page.nextCursor;
  }
  return pages;
}

/** What a server offers to read, to fill in, and of itself. */
export const offerFeatures: readonly Feature[] = [
  {
    rule: 'the server names itself, and its capabilities and instructions are told in the revision asked for (C1-07, C2-07)',
    async prove({ peer, way }) {
      expect(peer.revision ?? '2024-11-05').toBe(way.revision);
      expect(peer.server).toMatchObject({ version: identity, capabilities, instructions });
    },
  },
  {
    rule: 'a list comes in pages, with all that is said of each item, and takes no foreign cursor (C6-06)',
    async prove({ peer }) {
      const pages = await pagesOf(peer);
      expect(pages.map(({ length }) => length)).toEqual([pageSize, pageSize, 1]);
      expect(pages.flat()).toEqual(resources);
      await expect(peer.ask('resources/list', { cursor: 'forged' })).rejects.toMatchObject({ code: -32602 });
    },
  },
  {
    rule: 'resources are read as text and as bytes, and templates listed (C8-02)',
    async prove({ peer }) {
      expect((await peer.read('feature://text/4')).contents).toEqual([
        { uri: 'feature://text/4', mimeType: 'text/plain', text: 'text 4', _meta: { 'example.com/id': '4' } },
      ]);
      expect((await peer.read('feature://blob/x')).contents).toEqual([
        { uri: 'feature://blob/x', mimeType: 'image/png', blob: image.data },
      ]);
      const { about, ...listed } = template;
      expect((await peer.listTemplates()).resourceTemplates).toEqual([{ ...listed, ...about }]);
    },
  },
  {
    rule: 'a resource that does not exist is -32002 up to 2025-11-25, and -32602 since, whatever its server says (C8-02, FA-33)',
    async prove({ peer, way, isModern }) {
      // A client of version 2 reads both codes as one error.
      const code = way.sdk === 'v1' && !isModern ? notFoundV1 : notFoundV2;
      await expect(peer.read('feature://missing/1')).rejects.toMatchObject({ code });
    },
  },
  {
    rule: 'prompts are listed with their arguments, and give every kind of content (C8-01)',
    async prove({ peer }) {
      expect((await peer.listPrompts()).prompts).toMatchObject([
        {
          name: 'all',
          title: 'All',
          arguments: [
            { name: 'country', required: true },
            { name: 'city', required: false },
          ],
        },
      ]);
      const { description, messages } = await peer.getPrompt('all', { country: 'it' });
      expect(description).toBe('All of it');
      expect((messages as { content: unknown }[]).map(({ content }) => content)).toEqual(everyContent);
    },
  },
  {
    rule: 'an unknown prompt and a missing argument are errors -32602 (C8-01)',
    async prove({ peer }) {
      await expect(peer.getPrompt('none')).rejects.toMatchObject({ code: -32602 });
      await expect(peer.getPrompt('all')).rejects.toMatchObject({ code: -32602 });
    },
  },
  {
    rule: 'arguments are completed by the others, a hundred values at most, and not for what does not exist (C6-05)',
    async prove({ peer }) {
      const city = { name: 'city', value: 'p' };
      expect(completionOf(await peer.complete(allPrompt, city)).values).toEqual(['paris', 'pau']);
      expect(completionOf(await peer.complete(allPrompt, city, { country: 'it' })).values).toEqual(['pisa']);
      const ref = { type: 'ref/resource', uri: template.uriTemplate };
      const { values, total, hasMore } = completionOf(await peer.complete(ref, { name: 'id', value: '' }));
      expect([values, total, hasMore]).toEqual([manyValues.slice(0, 100), 150, true]);
      const unknown = { type: 'ref/prompt', name: 'none' };
      await expect(peer.complete(unknown, city)).rejects.toMatchObject({ code: -32602 });
    },
  },
  {
    rule: 'results say how long they may be kept: as the server wants, or not at all (C6-07)',
    where: inModern,
    async prove({ peer, form }) {
      const hint =
        form.sdk === 'v2' ? { ttlMs: 60_000, cacheScope: 'public' } : { ttlMs: 0, cacheScope: 'private' };
      expect(await peer.ask('tools/list')).toMatchObject(hint);
      expect(await peer.ask('prompts/list')).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
    },
  },
];
