// Asks the server of the container whether it is well, at the port that it has: exit code 0 if so, else 1.
import { readFileSync } from 'node:fs';

/** Port by the variable, else by the config file, as `gatehouse serve` takes it. */
function portOf({ GATEHOUSE_PORT, GATEHOUSE_CONFIG = '/etc/gatehouse/gatehouse.json' }) {
  if (GATEHOUSE_PORT) return GATEHOUSE_PORT;
  return JSON.parse(readFileSync(GATEHOUSE_CONFIG, 'utf8')).listen?.port ?? 3000;
}

try {
  const { ok } = await fetch(`http://127.0.0.1:${portOf(process.env)}/healthz`);
  process.exitCode = ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
