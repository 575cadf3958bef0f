import { Call, kindOf } from './call.ts';
import type { Calling } from './callers.ts';
import { type Received, send } from './http.ts';
import { inParallel } from './in-parallel.ts';

const revision = '2026-07-28';
const meta = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} }, sampling: {} },
  'io.modelcontextprotocol/clientInfo': { name: 'crosstalk', version: '1' },
  'io.modelcontextprotocol/logLevel': 'info',
};

/** Calls the way of 2026-07-28, four at once with the same id; a call that needs input is sent again with it. */
export async function callModern({ port, principal, count, tally }: Calling): Promise<void> {
  await inParallel(4, count, async (turn) => {
    const call = new Call(principal.name, `m${turn}`, { kind: kindOf(turn, true), id: 1, tally });
    const headers = {
      authorization: `Bearer ${principal.tokens.mcp}`,
      'mcp-protocol-version': revision,
      'mcp-method': 'tools/call',
      'mcp-name': call.kind,
    };
    let more: Record<string, unknown> | undefined = {};
    while (more) {
      const params: Record<string, unknown> = { ...call.params(meta), ...more };
      more = undefined;
      const onMessage = (message: Received): void => {
        if (message.result?.resultType !== 'input_required') {
          call.hear(message);
          return;
        }
        const { inputRequests, requestState } = message.result;
        const answers = Object.entries(inputRequests as Record<string, Received>).map(([key, asked]) => [
          key,
          call.answerTo(asked),
        ]);
        more = { inputResponses: Object.fromEntries(answers), requestState };
      };
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
      const { status } = await send({ port, path: '/mcp', headers, body, onMessage });
      if (status !== 200) call.fail(`HTTP ${status}`);
    }
    call.end();
  });
}
