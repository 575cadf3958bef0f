import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  describeMissingProgram,
  findWithheldVariables,
} from '../../../src/settings/backends/program-advice.ts';
import { testFolder } from '../../client/support/folder.ts';

const environment = {
  HOME: '/home/ada',
  HTTPS_PROXY: 'http://proxy.example',
  NODE_EXTRA_CA_CERTS: '/etc/ca.pem',
  SSL_CERT_FILE: '/etc/ca.pem',
  npm_config_cafile: '/etc/ca.pem',
  npm_config_cache: '/home/ada/.npm',
  npm_config_noproxy: '',
  npm_config_userconfig: '/home/ada/.npmrc',
  http_proxy: '',
};

describe('variables that a download needs and does not get', () => {
  it.each([
    ['npx', [], ['HTTPS_PROXY', 'NODE_EXTRA_CA_CERTS', 'npm_config_cafile']],
    ['/usr/bin/npx', ['HTTPS_PROXY', 'npm_config_cafile'], ['NODE_EXTRA_CA_CERTS']],
    ['uvx', [], ['HTTPS_PROXY', 'SSL_CERT_FILE']],
    ['node', [], []],
    ['constructor', [], []],
  ])('by %s, which is given %j, are %j', (command, given, expected) => {
    expect(findWithheldVariables(command, given, environment)).toEqual(expected);
  });

  it('are those of a file of settings elsewhere, too', () => {
    const elsewhere = { HOME: '/home/ada', npm_config_userconfig: '/etc/npmrc' };
    expect(findWithheldVariables('npx', [], elsewhere)).toEqual(['npm_config_userconfig']);
  });
});

/** A folder with a program, a file that cannot be run, and a folder. */
function programs(): string {
  const folder = testFolder();
  for (const [name, mode] of [
    ['notes-mcp', 0o755],
    ['a text', 0o644],
  ] as const) {
    writeFileSync(join(folder, name), '');
    chmodSync(join(folder, name), mode);
  }
  mkdirSync(join(folder, 'folder'));
  return folder;
}

it('a program is there by its name in PATH, and by its path', () => {
  const folder = programs();
  expect(describeMissingProgram('notes-mcp', `/nowhere:${folder}`)).toBeUndefined();
  expect(describeMissingProgram(join(folder, 'notes-mcp'), undefined)).toBeUndefined();
});

it('one that is not there is said with what to do', () => {
  const folder = programs();
  for (const path of ['/nowhere', '', undefined])
    expect(describeMissingProgram('notes-mcp', path)).toContain('install it, correct the name');
  expect(describeMissingProgram('folder', folder)).toContain('no program of that name in PATH');
  expect(describeMissingProgram(join(folder, 'none'), folder)).toContain('at this path');
  expect(describeMissingProgram('a text', folder)).toContain('its arguments stand in args');
});
