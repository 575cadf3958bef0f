import type { RequestMessage } from '../../mcp/checks/messages.ts';
import { type Logger, loggable } from '../../observability/logger.ts';
import { askedFor, usingMethods } from './asked-for.ts';
import { cleanDefinition } from './clean-definition.ts';
import { isUnclean } from './clean-text.ts';
import { type Entry, lists, withEntries } from './listed.ts';
import { notFound } from './not-found.ts';
import type { Answer, Next, Step } from './step.ts';

/** What a server says of itself and of how it is to be used. */
const introductions = new Set(['initialize', 'server/discover']);

/**
 * Creates the step that takes out of what a server says of its tools, prompts and resources what a person does not see
 * (T-160). What has such a name is not listed, and not there.
 * @param name what the server is called
 */
export function createCleaning(name: string, logger: Pick<Logger, 'warn'>): Step {
  const told = new Set<string>();
  const tell = (kind: string, unclean: string): void => {
    if (told.size >= maxTold || told.has(unclean)) return;
    told.add(unclean);
    const shown = loggable(unclean.replace(/\p{C}/gu, '\u{fffd}'));
    logger.warn(
      { backend: name, kind, name: shown },
      'a backend lists a name with characters nobody sees; it is left out',
    );
  };
  const hasCleanNames = (entry: Entry, kind: string, member: string): boolean => {
    const unclean = namesOf(entry, member).find(isUnclean);
    if (unclean !== undefined) tell(kind, unclean);
    return unclean === undefined;
  };

  const cleaned = async (request: RequestMessage, next: Next): Promise<Answer> => {
    const answer = await next(request);
    if (introductions.has(request.method))
      return answer.result ? { result: cleanDefinition(answer.result) } : answer;
    return withEntries(request.method, answer, (entries, { kind, name: member }) =>
      entries.filter((entry) => hasCleanNames(entry, kind, member)).map(cleanDefinition),
    );
  };

  return {
    cares: (method) => lists.has(method) || usingMethods.has(method) || introductions.has(method),
    answer(request, passing, next) {
      const asked = askedFor(request);
      if (asked && isUnclean(asked.name)) return Promise.resolve(notFound(asked.kind, asked.name, passing));
      return usingMethods.has(request.method) ? next(request) : cleaned(request, next);
    },
  };
}

/** Most names of a server that are told in the log. */
const maxTold = 100;

/** The names by which an entry is used: its own, and those of the arguments of a prompt or a tool. */
function namesOf(entry: Entry, member: string): string[] {
  const { arguments: promptArguments, inputSchema } = entry as { arguments?: unknown; inputSchema?: Entry };
  const ofPrompt = Array.isArray(promptArguments)
    ? promptArguments.map((one: Entry | null) => one?.name)
    : [];
  const properties = inputSchema?.properties;
  const ofTool = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return [entry[member], entry.name, ...ofPrompt, ...ofTool].filter((name) => typeof name === 'string');
}
