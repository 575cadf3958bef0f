import { expect, it, vi } from 'vitest';
import { ofRoutes } from '../../src/app/paths.ts';

it('what is made of routes is made once, and again when they have changed', () => {
  const routes = { all: ['notes'] as readonly string[] };
  const make = vi.fn((all: readonly string[]) => all.join());
  const current = ofRoutes(routes, make);
  expect([current(), current()]).toEqual(['notes', 'notes']);
  expect(make).toHaveBeenCalledOnce();
  routes.all = ['notes', 'files'];
  expect([current(), current()]).toEqual(['notes,files', 'notes,files']);
  expect(make).toHaveBeenCalledTimes(2);
});
