import { isRecord } from '../../mcp/protocol.ts';

type Capabilities = Record<string, unknown>;

/** Assumed capabilities of a backend that nobody has reached yet. */
export const unknownCapabilities: Capabilities = {
  tools: {},
  prompts: {},
  resources: { subscribe: true },
};

/**
 * Joins what several backends can do. Lists always change: a backend may come and go. Tasks are not among it, as they
 * are known by ids that each backend chooses.
 */
export function joinCapabilities(all: readonly Capabilities[]): Capabilities {
  const has = (name: string): boolean => all.some((each) => isRecord(each[name]));
  const subscribe = all.some(({ resources }) => isRecord(resources) && resources.subscribe === true);
  // A client refuses all of them if one has something else than an object.
  const merged = (name: string): Capabilities =>
    Object.fromEntries(
      all
        .toReversed()
        .flatMap((each) => Object.entries(isRecord(each[name]) ? each[name] : {}))
        .filter(([, value]) => isRecord(value)),
    );
  return {
    ...(has('tools') && { tools: { listChanged: true } }),
    ...(has('prompts') && { prompts: { listChanged: true } }),
    ...(has('resources') && { resources: { listChanged: true, ...(subscribe && { subscribe }) } }),
    ...(has('logging') && { logging: {} }),
    ...(has('completions') && { completions: {} }),
    ...(has('experimental') && { experimental: merged('experimental') }),
    ...(has('extensions') && { extensions: merged('extensions') }),
  };
}
