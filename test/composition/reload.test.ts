import { describe, expect, it, vi } from 'vitest';
import { createReload } from '../../src/composition/reload.ts';
import { parseSettings } from '../../src/options.ts';
import { SettingsRefused } from '../../src/settings/issues.ts';

const change: Record<'added' | 'changed' | 'removed' | 'kept', string[]> = {
  added: [],
  changed: [],
  removed: [],
  kept: ['notes'],
};

function reloading() {
  const replaceRoutes = vi.fn(() => change);
  const logger = { info: vi.fn(), error: vi.fn() };
  const clock = { ms: 1_000_000 };
  const nowMs = () => clock.ms;
  const cluster = { showReload: vi.fn() };
  const reload = createReload({ started: parseSettings({}), replaceRoutes, cluster, logger, nowMs });
  return { reload, logger, replaceRoutes, cluster, clock };
}

describe('a reload', () => {
  it('replaces the routes, and names what else is another, by what it was caused', () => {
    const routes = { notes: { backend: { command: 'notes' } } };
    const { reload, logger, replaceRoutes } = reloading();
    const outcome = reload(() => ({ routes, audit: { maxEvents: 2000 } }), 'SIGHUP');
    expect(outcome).toEqual({ routes: change, needRestart: ['audit'] });
    expect(replaceRoutes).toHaveBeenCalledWith(parseSettings({ routes }).routes);
    expect(logger.info).toHaveBeenCalledWith({ cause: 'SIGHUP', ...outcome }, 'the settings were reloaded');
  });

  it.each([
    [new SettingsRefused(['routes.a: wrong', 'routes.b: wrong']), ['routes.a: wrong', 'routes.b: wrong']],
    [new Error('nobody foresaw it'), ['nobody foresaw it']],
  ])('changes nothing where %s is thrown, and says why', (error, problems) => {
    const { reload, logger, replaceRoutes } = reloading();
    const load = () => {
      throw error;
    };
    expect(reload(load, 'SIGHUP')).toEqual({ problems });
    expect(replaceRoutes).not.toHaveBeenCalled();
    expect(logger.error).toHaveBeenCalledOnce();
  });

  it('that finds nothing to change names what was changed right before, by something else', () => {
    const { reload, replaceRoutes, clock } = reloading();
    const none = { routes: change, needRestart: [] };
    expect(reload(() => ({}), 'gatehouse reload')).toEqual(none);
    const routes = { ...change, changed: ['notes'], kept: [] };
    replaceRoutes.mockReturnValueOnce(routes);
    expect(reload(() => ({}), 'a.json changed')).toEqual({ routes, needRestart: [] });
    clock.ms += 300;
    const earlier = { cause: 'a.json changed', secondsAgo: 0.3, routes };
    for (const _ of ['once', 'again'])
      expect(reload(() => ({}), 'gatehouse reload')).toEqual({ ...none, earlier });
    expect(reload(() => ({}), 'a.json changed')).toEqual(none);
    clock.ms += 60_000;
    expect(reload(() => ({}), 'gatehouse reload')).toEqual(none);
  });

  it('names the misspelled setting, and changes nothing', () => {
    const { reload, replaceRoutes } = reloading();
    expect(reload(() => ({ rutes: {} }), 'SIGHUP')).toEqual({
      problems: ['rutes: there is no such setting; did you mean routes?'],
    });
    expect(replaceRoutes).not.toHaveBeenCalled();
  });
});
