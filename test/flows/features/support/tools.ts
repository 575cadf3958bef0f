import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { audio, embedded, image, schema2020 } from '../../../support/conformance-server/samples.ts';

/** What a running tool has at hand, in one shape for both versions of the SDK. */
export interface Doing {
  /** `_meta` of the call. */
  meta: Readonly<Record<string, unknown>>;
  signal: AbortSignal;
  progress(progress: number, total: number, message: string): Promise<void>;
  log(level: string, data: unknown): Promise<void>;
  announce(list: 'tools' | 'prompts' | 'resources'): Promise<void>;
  updated(uri: string): Promise<void>;
  /** Pings the client. */
  ping(): Promise<unknown>;
  /** Asks the client for a message of its model, and waits so long for it. */
  sample(timeoutMs: number): Promise<unknown>;
}

/** A tool, as it is listed, and what it does. */
export interface FeatureTool {
  definition: {
    name: string;
    title?: string;
    description?: string;
    inputSchema: { type: 'object'; [keyword: string]: unknown };
    outputSchema?: { type: 'object'; [keyword: string]: unknown };
    annotations?: Record<string, unknown>;
    icons?: { src: string; mimeType: string; sizes: string[] }[];
    _meta?: Record<string, unknown>;
  };
  run(input: Record<string, unknown>, doing: Doing): CallToolResult | Promise<CallToolResult>;
}

/** What happened in the tools, by the label of the call: it outlives the server of one request. */
export type Memory = Map<string, string>;

/** A text as a result. */
export const said = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

const input = (properties: object, required = Object.keys(properties)) => ({
  type: 'object' as const,
  properties,
  required,
});
const text = { type: 'string' };
const labelled = input({ label: text });

/** Longest time a tool waits to be cancelled, in milliseconds. */
const patienceMs = 10_000;

/** Everything but text that a result can hold. */
export const everyContent: CallToolResult['content'] = [
  { type: 'text', text: 'ünïcode\n\u2028data: {}', annotations: { audience: ['user'], priority: 0.5 } },
  image,
  audio,
  embedded,
  { type: 'resource', resource: { uri: 'feature://blob/1', mimeType: 'image/png', blob: image.data } },
  { type: 'resource_link', uri: 'feature://text/1', name: 'one', title: 'The first', mimeType: 'text/plain' },
];

/** The tool that carries everything a definition can say. */
export const described: FeatureTool['definition'] = {
  name: 'described',
  title: 'A described tool',
  description: 'Adds',
  inputSchema: input({ a: { type: 'number' }, b: { type: 'number' } }),
  outputSchema: input({ sum: { type: 'number' } }),
  annotations: {
    title: 'Adds numbers',
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  icons: [{ src: 'https://example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'] }],
  _meta: { 'example.com/kind': { nested: [1, null, 'x'] } },
};

/** Names at the edges of what a tool may be called. */
export const edgeNames = ['e', 'E', 'dotted.name-with_All.09', `n${'a'.repeat(63)}`, '__proto__x'];

/** Makes the tools. @param memory what is known of calls that were cancelled or outlived their answer */
export function createFeatureTools(memory: Memory): FeatureTool[] {
  const tool = (
    name: string,
    inputSchema: FeatureTool['definition']['inputSchema'],
    run: FeatureTool['run'],
  ) => ({
    definition: { name, inputSchema },
    run,
  });
  return [
    ...edgeNames.map((name) => tool(name, { type: 'object' }, () => said(name))),
    tool('contents', { type: 'object' }, () => ({
      content: everyContent,
      _meta: { 'example.com/by': 'contents' },
    })),
    {
      definition: described,
      run({ a, b }) {
        const structuredContent = { sum: Number(a) + Number(b) };
        return { structuredContent, ...said(JSON.stringify(structuredContent)) };
      },
    },
    tool('fails', { type: 'object' }, () => ({ ...said('The service is down.'), isError: true })),
    tool('throws', { type: 'object' }, () => {
      throw new Error('It broke.');
    }),
    tool('schema', schema2020 as FeatureTool['definition']['inputSchema'], () => said('fits')),
    tool('meta', { type: 'object' }, (_input, { meta }) => said(JSON.stringify(meta))),
    tool('steps', labelled, async ({ label }, { progress }) => {
      for (const at of [1, 2.5, 4]) await progress(at, 4, `step ${at}`);
      // A client of the SDK loses progress that comes in one piece with the answer.
      for (let waited = 0; memory.get(String(label)) !== 'heard' && waited < patienceMs; waited += 5)
        await sleep(5);
      return said('stepped');
    }),
    tool('tell', input({ label: text, what: text }), ({ label, what }) => {
      memory.set(String(label), String(what));
      return said('noted');
    }),
    tool('late', labelled, ({ label }, { progress }) => {
      const report = async () => {
        await progress(1, 1, 'late').catch(() => undefined);
        memory.set(String(label), 'reported late');
      };
      setTimeout(() => void report(), 10);
      return said('early');
    }),
    tool('wait', labelled, async ({ label }, { signal }) => {
      memory.set(String(label), 'waits');
      if (!signal.aborted) await once(signal, 'abort', { signal: AbortSignal.timeout(patienceMs) });
      memory.set(String(label), 'cancelled');
      return said('never');
    }),
    tool('recall', labelled, ({ label }) => said(memory.get(String(label)) ?? 'nothing')),
    tool('log', { type: 'object' }, async (_input, { log }) => {
      for (const level of ['debug', 'info', 'warning', 'emergency']) await log(level, { at: level });
      return said('logged');
    }),
    tool('announce', input({ list: text }), async ({ list }, { announce }) => {
      await announce(list as 'tools');
      return said('announced');
    }),
    tool('update', input({ uri: text }), async ({ uri }, { updated }) => {
      if (memory.get(String(uri)) !== 'unsubscribed') await updated(String(uri));
      return said('updated');
    }),
    tool('ping', { type: 'object' }, async (_input, { ping }) => said(JSON.stringify(await ping()))),
    tool('impatient', { type: 'object' }, (_input, { sample }) =>
      sample(50).then(
        () => said('answered'),
        (error) => said(String(error)),
      ),
    ),
  ];
}
