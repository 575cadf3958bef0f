import { noteCall } from '../../mcp/building-blocks.ts';
import { isRecord, type RequestMessage } from '../../mcp/protocol.ts';
import type { Logger } from '../../observability/logger.ts';
import { maxInstructionsLength } from './definition-hash.ts';
import type { ChangedDefinition, DefinitionKind, DefinitionPins } from './definition-pins.ts';
import {
  type Answer,
  askedFor,
  type Entry,
  introductions,
  lists,
  notFound,
  type Passing,
  type Step,
  withEntries,
} from './step.ts';
import { calledTool, type ToolDefinitions } from './tool-definitions.ts';

/** The reaction to a changed definition: a warning, or a warning and a block until the operator accepts the change. */
export type OnToolChange = 'warn' | 'block';

/** Options of {@link createPinning} and {@link createInstructionPinning}. */
interface PinningOptions {
  pins: Pick<DefinitionPins, 'review' | 'knownHash'>;
  onChange: OnToolChange;
  logger: Pick<Logger, 'error' | 'warn'>;
}

/** The lists of a server that definitions are looked up in. */
type Definitions = Record<'tool' | 'prompt' | 'template', Pick<ToolDefinitions, 'find'>>;

/** The name that the instructions of the only server of a route are pinned by. */
const onlyServer = 'server';

/** Methods that use one definition, which is looked up first if changes are blocked. */
const using = new Set(['tools/call', 'prompts/get', 'completion/complete']);

/** A definition that cannot be compared is blocked if changes are blocked; otherwise it passes with a log line. */
function reviewer({ pins, onChange, logger }: PinningOptions): Pick<DefinitionPins, 'review'>['review'] {
  return async (kind, definitions) => {
    try {
      return await pins.review(kind, definitions);
    } catch (error) {
      if (onChange === 'block') throw error;
      logger.error({ err: error, kind }, 'definitions of a backend could not be compared with their pins');
      return new Map();
    }
  };
}

/**
 * Creates the step that notices changed definitions of tools, prompts and resource templates (T-160, T-210). If changes are
 * blocked, a changed definition is not listed, and its tool or prompt cannot be used, until the operator accepts it; nor can
 * one that the server does not list. Resources are not pinned: they are the content of a server, and change with it.
 */
export function createPinning(options: PinningOptions & { definitions: Definitions }): Step {
  const { pins, onChange, definitions } = options;
  const isBlocking = onChange === 'block';
  const review = reviewer(options);
  const pinnedKindOf = (method: string): DefinitionKind | undefined => {
    const kind = lists.get(method)?.kind;
    return kind === 'resource' ? undefined : kind;
  };

  return {
    cares: (method) =>
      pinnedKindOf(method) !== undefined || method === 'tools/call' || (isBlocking && using.has(method)),
    async answer(request, passing, next) {
      const kind = pinnedKindOf(request.method);
      if (request.method === 'tools/call') noteDefinition(pins, request);
      if (!kind) {
        if (!isBlocking) return next(request);
        const used = await usedDefinition(definitions, request, passing);
        if ('answer' in used) return used.answer;
        if (!used.entry) return next(request);
        const changed = await review(used.kind, [[used.name, used.entry]]);
        return changed.size > 0 ? blocked(used.kind, used.name) : next(request);
      }
      return withEntries(request.method, await next(request), async (entries, { name: member }) => {
        const named = entries.flatMap((entry) => {
          const name = entry[member];
          return typeof name === 'string' ? [[name, entry] as const] : [];
        });
        const changed = await review(kind, named);
        return isBlocking ? named.flatMap(([name, entry]) => (changed.has(name) ? [] : [entry])) : entries;
      });
    },
  };
}

/** Notes in the record of a call which definition of its tool callers see. */
function noteDefinition(pins: Pick<DefinitionPins, 'knownHash'>, request: RequestMessage): void {
  const definition = pins.knownHash('tool', String(request.params?.name));
  if (definition !== undefined) noteCall({ definition });
}

/**
 * Creates the step that notices changed instructions of one server (T-210), new and removed ones included. If changes are
 * blocked, clients get the instructions that were accepted until the operator accepts the new ones; if those were too long
 * to store, clients get none. Instructions over 65,536 characters are taken out.
 * @param server the name the instructions are pinned by: the key of one of several servers
 */
export function createInstructionPinning(options: PinningOptions & { server?: string }): Step {
  const { server = onlyServer, onChange, logger } = options;
  const review = reviewer(options);
  return {
    cares: (method) => introductions.has(method),
    async answer(request, _passing, next) {
      const answer = await next(request);
      if (!answer.result) return answer;
      const { instructions, ...rest } = answer.result;
      const text = readInstructions(instructions);
      if (text === undefined && instructions !== undefined && instructions !== null)
        logger.warn({ server }, 'the instructions of a backend are no text or too long; they are left out');
      const defined: Entry = text === undefined ? {} : { instructions: text };
      const changed = (await review('instructions', [[server, defined]])).get(server);
      const delivered = changed && onChange === 'block' ? acceptedInstructions(changed) : text;
      if (delivered === instructions) return answer;
      return { result: { ...rest, ...(delivered !== undefined && { instructions: delivered }) } };
    },
  };
}

function readInstructions(instructions: unknown): string | undefined {
  const isRead = typeof instructions === 'string' && instructions.length <= maxInstructionsLength;
  return isRead && instructions !== '' ? instructions : undefined;
}

function acceptedInstructions({ accepted }: ChangedDefinition): string | undefined {
  const definition: unknown = accepted === undefined ? undefined : JSON.parse(accepted);
  return isRecord(definition) && typeof definition.instructions === 'string'
    ? definition.instructions
    : undefined;
}

/** A definition that a request uses: no entry if it uses none that is pinned; the answer if it may use none. */
type Used = { kind: keyof Definitions; name: string; entry: Entry | undefined } | { answer: Answer };

/** A request that names no prompt or template uses none: its answer is that there is none. */
async function usedDefinition(
  definitions: Definitions,
  request: RequestMessage,
  passing: Passing,
): Promise<Used> {
  if (request.method === 'tools/call') {
    const { name, tool, answer } = await calledTool(definitions.tool, request, passing);
    return answer ? { answer } : { kind: 'tool', name, entry: tool };
  }
  const asked = askedFor(request);
  if (asked?.kind !== 'prompt' && asked?.kind !== 'template')
    return { answer: notFound('prompt', asked?.name ?? '', passing) };
  const { kind, name } = asked;
  const { tool: entry, error } = await definitions[kind].find(name, passing);
  // Completions may be for the URI of a resource, which is in no list of templates.
  if (kind === 'template') return { kind, name, entry };
  if (error) return { answer: { error } };
  return entry ? { kind, name, entry } : { answer: notFound(kind, name, passing) };
}

function blocked(kind: keyof Definitions, name: string): Answer {
  const what = kind === 'template' ? 'resource template' : kind;
  noteCall({ refusal: `${kind}_definition_changed` });
  const message = `The definition of the ${what} ${name} changed since the operator of this gateway accepted it. It can be used again when they have accepted the change.`;
  return { error: { code: -32000, message, data: { reason: `${kind}_definition_changed` } } };
}
