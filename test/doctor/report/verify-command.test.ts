import { expect, it } from 'vitest';
import { verifyCommand } from '../../../src/doctor/report/verify-command.ts';

it('the command looks at one finding again, with what its section needs', () => {
  const url = 'https://mcp.example.com/mcp';
  const command = (id: string, section: string, active = false) =>
    verifyCommand({ id, section }, url, { active });
  expect(command('PRM-RESOURCE', 'resource', true)).toBe(`gatehouse doctor --only PRM-RESOURCE ${url}`);
  expect(command('LOGIN-PKCE', 'login', true)).toBe(`gatehouse doctor --only LOGIN-PKCE --active ${url}`);
  expect(command('PROXY-IDLE', 'proxy')).toBe(`gatehouse doctor --only PROXY-IDLE --proxy ${url}`);
});

it('a URL is one word of the shell, whatever it holds (T-182)', () => {
  expect(verifyCommand({ id: 'A', section: 'reach' }, "https://a/?x=$(id)&y='", { active: false })).toBe(
    "gatehouse doctor --only A 'https://a/?x=$(id)&y='\\'''",
  );
});

it('the command has the program as the user calls it, and the options that the check was given', () => {
  const given = (section: string) => (section === 'machine' ? ['--callback-port', '8123'] : []);
  expect(
    verifyCommand({ id: 'MACHINE-CALLBACK-PORT', section: 'machine' }, 'https://a/mcp', {
      program: 'npx mcp-gatehouse',
      active: true,
      given,
    }),
  ).toBe('npx mcp-gatehouse doctor --only MACHINE-CALLBACK-PORT --callback-port 8123 https://a/mcp');
});
