import { expect, it } from 'vitest';
import { retellProblems } from '../../../src/cli/commands/protect-problems.ts';

it.each([
  ['routes.protected.backend.url: must be absolute', 'the URL: must be absolute'],
  [
    'routes.protected.backend: The environment has no KEY: set it',
    '--env: The environment has no KEY: set it',
  ],
  ['routes.protected.backend.env.0: must be a name', '--env: must be a name'],
  ['routes.protected.name: must not be empty', '--name: must not be empty'],
  [
    'routes.protected.path: / is the path of notes already',
    'routes.notes.path: / is where gatehouse protect puts what it is given; set another path, such as /notes',
  ],
  [
    'routes.notes.path: / is the path of protected already',
    'routes.notes.path: / is where gatehouse protect puts what it is given; set another path, such as /notes',
  ],
  ['routes.b.path: / is the path of a already', 'routes.b.path: / is the path of a already'],
  ['routes.notes.backend.url: must be absolute', 'routes.notes.backend.url: must be absolute'],
])('a problem of what is protected is told as it was given: %s', (problem, told) => {
  expect(retellProblems([problem], 'protected')).toEqual([told]);
});
