import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import {
  acceptedContent,
  inputRequired,
  inputResponse,
  McpServer,
  type ServerContext,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type CallContext, callerOf } from '../../../../src/mcp/sdk/caller.ts';

const capabilities = { logging: {} };
const supportedProtocolVersions = ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS];
const description = 'Says who called, and the nonce of the call.';

/** Who called with which nonce, as every message about a call says it. */
const mark = (context: CallContext, nonce: string): string => {
  const { subject, clientId } = callerOf(context);
  return `${subject} ${clientId} ${nonce}`;
};
const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

const form = (message: string) => ({
  message,
  requestedSchema: { type: 'object' as const, properties: { said: { type: 'string' as const } } },
});
const prompt = (message: string) => ({
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: message } }],
  maxTokens: 10,
});

/** A question whose answer came, or one that has to be put again by the client. */
type Said = string | ReturnType<typeof inputRequired>;

/**
 * How long a question waits. Node takes one new connection in a turn of its event loop, so an answer that comes on a
 * new one may wait long behind a thousand busy ones.
 */
const patience = { timeout: 600_000 };

/** What the tools do with the call they are in, whatever the SDK's version. */
interface Doing {
  caller: CallContext;
  token: string | number | undefined;
  log(data: string): Promise<void>;
  progress(token: string | number, progress: number, message: string): Promise<void>;
  elicit(message: string): Said | Promise<Said>;
  sample(message: string): Said | Promise<Said>;
}

type Run = (
  nonce: string,
  doing: Doing,
) => Promise<ReturnType<typeof text> | ReturnType<typeof inputRequired>>;

const answered = (said: Said, doing: Doing, nonce: string) =>
  typeof said === 'string' ? text(said === mark(doing.caller, nonce) ? said : `told ${said}`) : said;

/** Lets other calls come in between. */
const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const tools: Record<string, Run> = {
  echo: async (nonce, { caller }) => {
    if (nonce.endsWith('3')) await pause();
    return text(mark(caller, nonce));
  },
  steps: async (nonce, doing) => {
    const said = mark(doing.caller, nonce);
    await doing.log(said);
    for (const step of [1, 2]) {
      await pause();
      if (doing.token !== undefined) await doing.progress(doing.token, step, said);
    }
    return text(said);
  },
  elicit: async (nonce, doing) => answered(await doing.elicit(mark(doing.caller, nonce)), doing, nonce),
  sample: async (nonce, doing) => answered(await doing.sample(mark(doing.caller, nonce)), doing, nonce),
};

/** How a tool asks its client in revisions up to 2025-11-25: it waits for the answer. */
function asking(context: ServerContext): Pick<Doing, 'elicit' | 'sample'> {
  const { mcpReq } = context;
  return {
    elicit: async (message) => {
      const { content } = await mcpReq.send(
        { method: 'elicitation/create', params: form(message) },
        patience,
      );
      return String(content?.said);
    },
    sample: async (message) => {
      const { content } = await mcpReq.send(
        { method: 'sampling/createMessage', params: prompt(message) },
        patience,
      );
      return saidIn(content);
    },
  };
}

/** How a tool asks its client in 2026-07-28: its call ends, and comes again with the answer. */
function askingAgain(context: ServerContext): Pick<Doing, 'elicit' | 'sample'> {
  const { mcpReq } = context;
  const unlessState = (message: string, said: string): string =>
    mcpReq.requestState() === message ? said : `state ${String(mcpReq.requestState())}`;
  return {
    elicit: (message) => {
      const answer = acceptedContent<{ said: string }>(mcpReq.inputResponses, 'question');
      if (answer) return unlessState(message, answer.said);
      return inputRequired({
        inputRequests: { question: inputRequired.elicit(form(message)) },
        requestState: message,
      });
    },
    sample: (message) => {
      const answer = inputResponse(mcpReq.inputResponses, 'question');
      if (answer.kind === 'sampling') return unlessState(message, saidIn(answer.result.content));
      return inputRequired({
        inputRequests: { question: inputRequired.createMessage(prompt(message)) },
        requestState: message,
      });
    },
  };
}

function saidIn(content: unknown): string {
  return String((content as { text?: unknown }).text);
}

/**
 * Makes a server, with SDK version 2, whose tools say who called: by their answers, by progress, log messages and
 * questions to the client.
 */
export function makeEchoV2(era: 'legacy' | 'modern'): McpServer {
  const server = new McpServer({ name: 'echo', version: '2' }, { capabilities, supportedProtocolVersions });
  for (const [name, run] of Object.entries(tools))
    server.registerTool(
      name,
      { description, inputSchema: z.object({ nonce: z.string() }) },
      ({ nonce }, context) => {
        const { mcpReq } = context;
        return run(nonce, {
          caller: context,
          token: mcpReq._meta?.progressToken,
          log: (data) => mcpReq.log('info', data),
          progress: (progressToken, progress, message) =>
            mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } }),
          ...(era === 'modern' ? askingAgain(context) : asking(context)),
        });
      },
    );
  return server;
}

/** Makes the same server with SDK version 1. */
export function makeEchoV1(): McpServerV1 {
  const server = new McpServerV1({ name: 'echo', version: '1' }, { capabilities });
  type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;
  const doing = (extra: Extra): Doing => ({
    caller: extra as CallContext,
    token: extra._meta?.progressToken,
    log: (data) =>
      extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } }),
    progress: (progressToken, progress, message) =>
      extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress, message },
      }),
    elicit: async (message) => {
      const request = { method: 'elicitation/create' as const, params: form(message) };
      return String((await extra.sendRequest(request, ElicitResultSchema, patience)).content?.said);
    },
    sample: async (message) => {
      const request = { method: 'sampling/createMessage' as const, params: prompt(message) };
      return saidIn((await extra.sendRequest(request, CreateMessageResultSchema, patience)).content);
    },
  });
  for (const [name, run] of Object.entries(tools))
    server.registerTool(
      name,
      { description, inputSchema: { nonce: z.string() } },
      async ({ nonce }, extra) => (await run(nonce, doing(extra))) as ReturnType<typeof text>,
    );
  return server;
}
