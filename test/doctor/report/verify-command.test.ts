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
