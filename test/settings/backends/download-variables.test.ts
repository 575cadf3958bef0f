import { describe, expect, it } from 'vitest';
import { findWithheldVariables } from '../../../src/settings/backends/download-variables.ts';

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
