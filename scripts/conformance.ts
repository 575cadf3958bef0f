import { type ClientAuthentication, runAuthorizationSuite } from '../test/support/conformance.ts';

const methods: readonly ClientAuthentication[] = ['none', 'client_secret_basic', 'client_secret_post'];

async function runAll(): Promise<boolean> {
  let allPassed = true;
  for (const method of methods) {
    const { scenarios, passed, report } = await runAuthorizationSuite(method);
    console.log(`\n##### The official suite with a client that authenticates by ${method}\n${report}`);
    const names = scenarios.map(({ name }) => name).join(' and ');
    console.log(
      passed ? `Passed with ${method}: ${names}.` : `NOT passed with ${method}; the reason stands above.`,
    );
    allPassed &&= passed;
  }
  return allPassed;
}

const [part, ...rest] = process.argv.slice(2);
if (part !== 'authorization' || rest.length > 0) {
  console.error('Usage: scripts/conformance authorization');
  process.exitCode = 2;
} else {
  const passed = await runAll();
  console.log(
    passed ? '\nThe authorization server conforms.' : '\nThe authorization server does NOT conform.',
  );
  process.exitCode = passed ? 0 : 1;
}
