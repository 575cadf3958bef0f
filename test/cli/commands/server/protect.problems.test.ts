import { expect, it } from 'vitest';
import { retellProblems } from '../../../../src/cli/commands/server/protect.ts';

it.each([
  ['routes.protected.backend.url: must be absolute', 'the URL: must be absolute'],
  [
    'routes.protected.backend: The environment has no KEY: set it',
    '--env: The environment has no KEY: set it',
  ],
  ['routes.protected.backend.env.0: must be a name', '--env: must be a name'],
  [
    'routes.protected.backend.command (npx): A is set here. Hand it over by name in routes.protected.backend.env, or with --env A for gatehouse protect.',
    'the command (npx): A is set here. Hand it over with --env A.',
  ],
  [
    'routes.protected.backend.args.1: a placeholder. Write the value, or name the variable in env.',
    'the arguments of the command: a placeholder. Write the value, or hand the variable over with --env.',
  ],
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
  ['publicUrl is https, so a proxy is in front', 'publicUrl is https, so a proxy is in front'],
])('a problem of what is protected is told as it was given: %s', (problem, told) => {
  expect(retellProblems([problem], 'protected')).toEqual([told]);
});
