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
  const routes = createServedRoutes();
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
