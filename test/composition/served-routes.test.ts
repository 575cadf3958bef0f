import { expect, it, vi } from 'vitest';
import type { ResolvedRoute } from '../../src/composition/resolve-routes.ts';
import { createServedRoutes, type ServedRoute } from '../../src/composition/served-routes.ts';

it('routes that cannot be taken leave nothing that runs: what was made for them is closed', () => {
  const close = vi.fn();
  const backend = { source: {}, status: () => ({}), close };
  const wanted = (key: string, make: () => object): ResolvedRoute =>
    ({ key, fingerprint: key, path: `/${key}`, make }) as unknown as ResolvedRoute;
  const sound = wanted('sound', () => ({ server: {}, backend }));
  const broken = wanted('broken', () => {
    throw new Error('no such variable');
  });
  const routes = createServedRoutes({ warn: vi.fn() });
  const serve = (placed: object): ServedRoute => placed as ServedRoute;
  const replace = (list: ResolvedRoute[], announce: () => void) => () =>
    routes.replace(list, { issuer: 'https://a.example', serve, announce });
  expect(replace([sound, broken], () => undefined)).toThrow('no such variable');
  expect(close).toHaveBeenCalledTimes(1);
  const refuse = () => {
    throw new Error('not these');
  };
  expect(replace([sound], refuse)).toThrow('not these');
  expect(close).toHaveBeenCalledTimes(2);
  expect(routes.all).toEqual([]);
});

it('a route that fails to end keeps no other from its end, and is logged if nobody waits for it', async () => {
  const warn = vi.fn();
  const ended: string[] = [];
  const routes = createServedRoutes({ warn });
  const route = (key: string, fault?: string): ServedRoute =>
    ({
      route: { key, fingerprint: key },
      mcpEndpoint: { close: () => (fault ? Promise.reject(new Error(fault)) : Promise.resolve()) },
      backend: { close: () => void ended.push(key) },
    }) as unknown as ServedRoute;
  const begin = (...all: ServedRoute[]): void =>
    routes.begin(all as never, { serve: (placed) => placed as ServedRoute });
  begin(route('failing', 'a server threw'), route('other'));
  routes.replace([], { issuer: 'https://a.example', serve: () => route('none'), announce: () => undefined });
  await vi.waitFor(() => expect(warn).toHaveBeenCalledTimes(1));
  expect(ended.sort()).toEqual(['failing', 'other']);
  begin(route('last', 'a server threw'), route('after'));
  await expect(routes.close()).rejects.toThrow('a server threw');
  expect(ended.sort()).toEqual(['after', 'failing', 'last', 'other']);
});
