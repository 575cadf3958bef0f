import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequest,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { textResult } from './content.ts';

/** Seals what a call remembers between its rounds. */
export const rounds = createRequestStateCodec<{ round: number }>({
  key: 'conformance-key-of-at-least-32-bytes',
});

const nameSchema = z.object({ name: z.string() });
const okSchema = z.object({ ok: z.boolean() });
const colorSchema = z.object({ color: z.string() });
const contextSchema = z.object({ context: z.string() });

const ask = (message: string, requestedSchema: z.ZodObject): InputRequest =>
  inputRequired.elicit({ message, requestedSchema });
const sample = (text: string, maxTokens: number): InputRequest =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens });

function registerSingleRequests(server: McpServer): void {
  for (const name of ['test_input_required_result_elicitation', 'test_streaming_elicitation']) {
    server.registerTool(name, { description: 'asks for a name' }, ({ mcpReq }) => {
      const given = acceptedContent(mcpReq.inputResponses, 'user_name', nameSchema);
      return given
        ? textResult(`Hello, ${given.name}!`)
        : inputRequired({ inputRequests: { user_name: ask('What is your name?', nameSchema) } });
    });
  }
  server.registerTool(
    'test_input_required_result_sampling',
    { description: 'asks the model' },
    ({ mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, 'capital_question');
      return answer.kind === 'sampling'
        ? textResult(JSON.stringify(answer.result.content))
        : inputRequired({
            inputRequests: { capital_question: sample('What is the capital of France?', 100) },
          });
    },
  );
  server.registerTool(
    'test_input_required_result_list_roots',
    { description: 'asks for roots' },
    ({ mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, 'client_roots');
      return answer.kind === 'roots'
        ? textResult(answer.roots.map(({ uri }) => uri).join(' '))
        : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
    },
  );
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'asks for a context' },
    ({ mcpReq }) => {
      const given = acceptedContent(mcpReq.inputResponses, 'user_context', contextSchema);
      if (!given)
        return inputRequired({
          inputRequests: { user_context: ask('What context should the prompt use?', contextSchema) },
        });
      return {
        messages: [{ role: 'user' as const, content: { type: 'text' as const, text: given.context } }],
      };
    },
  );
}

function registerRounds(server: McpServer): void {
  for (const name of [
    'test_input_required_result_request_state',
    'test_input_required_result_tampered_state',
  ]) {
    server.registerTool(name, { description: 'keeps state for a round' }, async ({ mcpReq }) => {
      const given = acceptedContent(mcpReq.inputResponses, 'confirm', okSchema);
      if (given && mcpReq.requestState<{ round: number }>()?.round === 1) return textResult('state-ok');
      return inputRequired({
        inputRequests: { confirm: ask('Please confirm', okSchema) },
        requestState: await rounds.mint({ round: 1 }),
      });
    });
  }
  server.registerTool(
    'test_input_required_result_multiple_inputs',
    { description: 'asks for three things at once' },
    async ({ mcpReq: { inputResponses } }) => {
      const name = acceptedContent(inputResponses, 'user_name', nameSchema);
      const greeting = inputResponse(inputResponses, 'greeting');
      const roots = inputResponse(inputResponses, 'client_roots');
      if (name && greeting.kind === 'sampling' && roots.kind === 'roots')
        return textResult(`Hello, ${name.name}`);
      return inputRequired({
        inputRequests: {
          user_name: ask('What is your name?', nameSchema),
          greeting: sample('Generate a greeting', 50),
          client_roots: inputRequired.listRoots(),
        },
        requestState: await rounds.mint({ round: 1 }),
      });
    },
  );
  server.registerTool(
    'test_input_required_result_multi_round',
    { description: 'asks twice' },
    async ({ mcpReq: { inputResponses, requestState } }) => {
      const { round = 0 } = requestState<{ round: number }>() ?? {};
      if (round === 2 && acceptedContent(inputResponses, 'step2', colorSchema))
        return textResult('Both answered');
      const second = round === 1 && acceptedContent(inputResponses, 'step1', nameSchema) !== undefined;
      return inputRequired({
        inputRequests: second
          ? { step2: ask('Step 2: What is your favorite color?', colorSchema) }
          : { step1: ask('Step 1: What is your name?', nameSchema) },
        requestState: await rounds.mint({ round: second ? 2 : 1 }),
      });
    },
  );
}

/** What the client of a request declared it can do: in the request, or as the session began. */
function capabilitiesOf({ server }: McpServer, { mcpReq }: ServerContext): ClientCapabilities {
  const envelope: Record<string, unknown> = { ...mcpReq.envelope };
  const declared = envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  return (declared ?? {}) as ClientCapabilities;
}

function registerCapabilityChecks(server: McpServer): void {
  server.registerTool(
    'test_input_required_result_capabilities',
    { description: 'asks only for what the client can do' },
    (context) => {
      const { sampling, elicitation } = capabilitiesOf(server, context);
      return inputRequired({
        inputRequests: {
          ...(elicitation ? { user_name: ask('What is your name?', nameSchema) } : {}),
          ...(sampling ? { greeting: sample('Generate a greeting', 50) } : {}),
        },
      });
    },
  );
  server.registerTool('test_missing_capability', { description: 'needs sampling' }, () =>
    inputRequired({ inputRequests: { greeting: sample('Generate a greeting', 50) } }),
  );
  server.registerTool('test_logging_tool', { description: 'logs' }, async ({ mcpReq }) => {
    await mcpReq.log('info', 'a line of the log');
    return textResult('logged');
  });
}

/**
 * Registers what answers a call of 2026-07-28 with a question, over one or more rounds (SEP-2322). A client of the legacy
 * era is asked the same by requests, which the SDK makes of it.
 */
export function registerAskingInRounds(server: McpServer): void {
  registerSingleRequests(server);
  registerRounds(server);
  registerCapabilityChecks(server);
}
