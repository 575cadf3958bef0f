import { randomBytes } from 'node:crypto';
import type { GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/server';
import { createPaging } from '../../../../src/index.ts';
import { image } from '../../../support/conformance-server/samples.ts';
import { everyContent } from './tools.ts';

/** How the server of the features names itself. */
export const identity = {
  name: 'features',
  version: '1.2.3',
  title: 'Every feature',
  description: 'Uses all there is',
  websiteUrl: 'https://example.com/features',
  icons: [{ src: 'data:image/png;base64,AAAA', mimeType: 'image/png', sizes: ['any'] }],
};

/** What it tells a model about itself. */
export const instructions = 'Call what you like.';

/** What it can do. */
export const capabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {},
  completions: {},
};

/** Its resources, in the order of their URIs. */
export const resources = [1, 2, 3, 4, 5, 6, 7].map((id) => ({
  uri: `feature://text/${id}`,
  name: `text-${id}`,
  title: `Text ${id}`,
  description: 'a text',
  mimeType: 'text/plain',
  size: 6,
  annotations: { audience: ['user' as const], priority: 0.3, lastModified: '2026-01-02T03:04:05Z' },
  icons: [{ src: 'https://example.com/text.svg', mimeType: 'image/svg+xml', sizes: ['any'] }],
  _meta: { 'example.com/id': id },
}));

/** How many resources a page has. */
export const pageSize = 3;

/** The address of everything that can be read, and what is said of it. */
export const template = {
  uriTemplate: 'feature://{kind}/{id}',
  name: 'everything',
  about: { title: 'Everything', description: 'by kind and id', mimeType: 'text/plain' },
};

/** Reads a resource; nothing where there is none. */
export function readFeature(uri: URL, kind: unknown, id: unknown): ReadResourceResult | undefined {
  if (kind === 'text')
    return {
      contents: [
        { uri: uri.href, mimeType: 'text/plain', text: `text ${id}`, _meta: { 'example.com/id': id } },
      ],
    };
  if (kind === 'blob') return { contents: [{ uri: uri.href, mimeType: 'image/png', blob: image.data }] };
  return undefined;
}

const cities: Record<string, string[]> = { fr: ['paris', 'pau', 'lyon'], it: ['pisa', 'roma'] };

/** Completes an argument, by what the others are. */
export function completeCity(value: string, context?: { arguments?: Record<string, string> }): string[] {
  return (cities[context?.arguments?.country ?? 'fr'] ?? []).filter((city) => city.startsWith(value));
}

/** More values than one answer may hold. */
export const manyValues = Array.from({ length: 150 }, (_, at) => `value-${at}`);

/** The prompt with every kind of content. */
export function everyMessage(country: string): GetPromptResult {
  return {
    description: `All of ${country}`,
    messages: everyContent.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
  };
}

const paging = createPaging({ key: randomBytes(32) });

/** Gives a page of the resources. */
export function resourcePage(cursor: string | undefined) {
  const list = { name: 'resources/list', items: resources, keyOf: ({ uri }: { uri: string }) => uri };
  const { items, ...rest } = paging.page(list, { cursor, pageSize });
  return { resources: items, ...rest };
}
