import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A model on loopback for programs that have one: it asks for the tool `add_note`, and says what came back. It speaks
 * OpenAI's chat completions and responses, Anthropic's messages and Gemini's generateContent.
 */
export interface ModelServer {
  /** Its origin. */
  url: string;
  /** Has the next conversation call the tool with this text. */
  expect(text: string): void;
  /** Results of the tool for the expected text, as the program handed them on. */
  results(): readonly string[];
  /** What it was asked, for a report: path, and names of tools. */
  asked(): readonly string[];
  stop(): Promise<void>;
}

type Json = Record<string, unknown>;

/** A tool that a program offers, with the namespace in which some put it. */
interface Offer {
  name: string;
  namespace?: string;
}

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? ''));

/** The tools of a request, in any of the four forms. */
function offersOf(body: Json): Offer[] {
  return list(body.tools).flatMap((tool): Offer[] => {
    const inner = list(tool.functionDeclarations);
    if (inner.length > 0) return inner.map(({ name }) => ({ name: text(name) }));
    if (tool.type === 'namespace')
      return list(tool.tools).map(({ name }) => ({ name: text(name), namespace: text(tool.name) }));
    const named = (tool.function as Json | undefined) ?? tool;
    return [{ name: text(named.name) }];
  });
}

/** What one request wants: a call, an end, or anything. */
interface Reply {
  call?: Offer & { id: string; args: Json };
  say: string;
}

interface Wire {
  /** Finds the result of the call with this id. */
  resultOf(body: Json, id: string): string | undefined;
  reply(body: Json, reply: Reply): { events?: (Json | string)[]; json: Json; named?: boolean };
}

const chat: Wire = {
  resultOf: (body, id) => {
    const found = list(body.messages).find(
      ({ role, tool_call_id }) => role === 'tool' && tool_call_id === id,
    );
    return found && text(found.content);
  },
  reply({ model }, { call, say }) {
    const toolCalls = call && [
      {
        index: 0,
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: JSON.stringify(call.args) },
      },
    ];
    const message = call
      ? { role: 'assistant', content: null, tool_calls: toolCalls }
      : { role: 'assistant', content: say };
    const finish = call ? 'tool_calls' : 'stop';
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const shape = { id: 'chatcmpl-1', created: 1, model };
    const chunk = (delta: object, reason: string | null): Json => ({
      ...shape,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: reason }],
    });
    return {
      json: {
        ...shape,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: finish }],
        usage,
      },
      events: [chunk(message, null), { ...chunk({}, finish), usage }, '[DONE]'],
    };
  },
};

const responses: Wire = {
  resultOf: (body, id) => {
    const found = list(body.input).find(
      ({ type, call_id }) => text(type).endsWith('call_output') && call_id === id,
    );
    return found && text(found.output);
  },
  reply({ model }, { call, say }) {
    const item = call
      ? {
          type: 'function_call',
          id: `fc_${call.id}`,
          call_id: call.id,
          name: call.name,
          ...(call.namespace === undefined ? undefined : { namespace: call.namespace }),
          arguments: JSON.stringify(call.args),
          status: 'completed',
        }
      : {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: say, annotations: [] }],
        };
    const usage = {
      input_tokens: 1,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 1,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 2,
    };
    const shape = { id: 'resp_1', object: 'response', created_at: 1, model };
    const json = { ...shape, status: 'completed', output: [item], usage };
    const begun = { ...shape, status: 'in_progress', output: [] };
    const delta = { item_id: item.id, output_index: 0 };
    return {
      json,
      named: true,
      events: [
        { type: 'response.created', response: begun },
        { type: 'response.output_item.added', output_index: 0, item },
        ...(call
          ? [
              {
                type: 'response.function_call_arguments.done',
                ...delta,
                arguments: JSON.stringify(call.args),
              },
            ]
          : [{ type: 'response.output_text.delta', ...delta, content_index: 0, delta: say }]),
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: json },
      ].map((event, at) => ({ ...event, sequence_number: at })),
    };
  },
};

const messages: Wire = {
  resultOf: (body, id) => {
    const found = list(body.messages)
      .flatMap(({ content }) => list(content))
      .find(({ type, tool_use_id }) => type === 'tool_result' && tool_use_id === id);
    return found && text(found.content);
  },
  reply({ model }, { call, say }) {
    const block = call
      ? { type: 'tool_use', id: call.id, name: call.name, input: call.args }
      : { type: 'text', text: say };
    const reason = call ? 'tool_use' : 'end_turn';
    const usage = { input_tokens: 1, output_tokens: 1 };
    const shape = { id: 'msg_1', type: 'message', role: 'assistant', model, stop_sequence: null };
    return {
      json: { ...shape, content: [block], stop_reason: reason, usage },
      named: true,
      events: [
        { type: 'message_start', message: { ...shape, content: [], stop_reason: null, usage } },
        {
          type: 'content_block_start',
          index: 0,
          content_block: call ? { ...block, input: {} } : { type: 'text', text: '' },
        },
        {
          type: 'content_block_delta',
          index: 0,
          delta: call
            ? { type: 'input_json_delta', partial_json: JSON.stringify(call.args) }
            : { type: 'text_delta', text: say },
        },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage },
        { type: 'message_stop' },
      ],
    };
  },
};

const gemini: Wire = {
  resultOf: (body) => {
    const parts = list(list(body.contents).at(-1)?.parts);
    const found = parts.find(({ functionResponse }) => functionResponse !== undefined);
    return found && text((found.functionResponse as Json).response);
  },
  reply(_body, { call, say }) {
    const part = call
      ? { functionCall: { id: call.id, name: call.name, args: call.args }, thoughtSignature: 'c2lnbmVk' }
      : { text: say };
    const json = {
      candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: 'local',
    };
    return { json, events: [json] };
  },
};

function wireOf(path: string): Wire | undefined {
  if (path.endsWith('/chat/completions')) return chat;
  if (path.endsWith('/responses')) return responses;
  if (path.endsWith('/messages')) return messages;
  if (/:(?:stream)?[gG]enerateContent$/.test(path)) return gemini;
  return undefined;
}

async function readBody(request: IncomingMessage): Promise<Json> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body === '' ? {} : (JSON.parse(body) as Json);
}

function send(
  to: ServerResponse,
  { json, events = [], named }: ReturnType<Wire['reply']>,
  isStream: boolean,
): void {
  if (!isStream) {
    to.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    return;
  }
  to.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    if (named && typeof event !== 'string') to.write(`event: ${String(event.type)}\n`);
    to.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
  }
  to.end();
}

/** Starts the model on a free port of loopback. */
export async function startModelServer(): Promise<ModelServer> {
  let expected = '';
  let count = 0;
  let results: string[] = [];
  const asked: string[] = [];

  function decide(wire: Wire, body: Json): Reply {
    const result = wire.resultOf(body, `call_${count}`);
    if (result !== undefined) {
      results.push(result);
      return { say: `The tool said: ${result}` };
    }
    const offer = offersOf(body).find(({ name }) => name.endsWith('add_note'));
    if (!offer) return { say: 'There is no tool add_note.' };
    return { say: '', call: { ...offer, id: `call_${count}`, args: { text: expected } } };
  }

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const wire = request.method === 'POST' ? wireOf(pathname) : undefined;
    const body = await readBody(request).catch(() => ({}) as Json);
    const offers = offersOf(body).map(({ name, namespace }) => (namespace ? `${namespace}/${name}` : name));
    asked.push(`${request.method} ${request.url} ${offers.join(' ')}`);
    if (!wire) {
      const isList = pathname.endsWith('/models');
      response
        .writeHead(isList ? 200 : 404, { 'content-type': 'application/json' })
        .end(JSON.stringify(isList ? { object: 'list', data: [{ id: 'local', object: 'model' }] } : {}));
      return;
    }
    const isStream =
      body.stream === true || searchParams.get('alt') === 'sse' || pathname.includes(':stream');
    send(response, wire.reply(body, decide(wire, body)), isStream);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    expect(next) {
      expected = next;
      count++;
      results = [];
    },
    results: () => results,
    asked: () => asked,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
