import { createLogger } from '../observability/logger.ts';
import type { Settings } from '../options.ts';
import { SettingsRefused } from '../settings/issues.ts';
import { wantRoutes } from './wanted-servers.ts';

const never = (): never => {
  throw new Error('nobody calls a route that is only looked at');
};

/**
 * Finds the routes a server would not start with as its surroundings are: a variable that is not set, a file that cannot
 * be read. Starts nothing, and asks nobody.
 * @param environment of this process
 * @returns a sentence a problem, with the place it is at
 */
export async function findUnusableRoutes(
  settings: Pick<Settings, 'routes' | 'upstreams'>,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  const problems: string[] = [];
  const wanted = wantRoutes(settings, {
    // What it is called matters to nobody here.
    issuer: 'http://localhost',
    environment,
    entered: { read: never, onChange: () => () => undefined },
    upstreams: Object.keys(settings.upstreams),
    labelOf: (name) => name,
    tokens: { token: never, holds: never },
    pinDefinitions: (route) => ({
      route,
      store: { list: never, add: never, upgrade: never, noteChange: never },
      noteChanged: never,
      now: never,
    }),
    objects: { tasksOf: () => ({ add: never, filterOwned: never }), close: never },
    seal: { seal: never, open: never },
    logger: createLogger('silent'),
    now: never,
  });
  for (const { make } of wanted)
    try {
      await make().backend?.close();
    } catch (error) {
      if (!(error instanceof SettingsRefused)) throw error;
      problems.push(...error.problems);
    }
  return problems;
}
