import { expect, it } from 'vitest';
import { countedPaths, resourcePathsOf, serverPathsOf } from '../../src/app/paths.ts';
import { takenSegments } from '../../src/settings/routes.ts';

it('a server has the same paths below each route', () => {
  expect(serverPathsOf([{ path: '' }, { path: '/notes' }])).toEqual([
    '/mcp',
    '/sse',
    '/messages',
    '/rest',
    '/notes/mcp',
    '/notes/sse',
    '/notes/messages',
    '/notes/rest',
  ]);
  expect(resourcePathsOf([{ path: '/notes' }])).toEqual(['/notes/mcp', '/notes/sse', '/notes/rest']);
});

it('no route can be where pages and endpoints of ours are', () => {
  for (const path of countedPaths)
    if (path !== '/.well-known') expect(takenSegments).toContain(path.split('/')[1]);
});
