// Starts and stops a gatehouse, and prints which modules of OpenTelemetry were loaded, and the warnings of the log. With the
// argument "missing", the packages of the SDK are not installed.
import { registerHooks } from 'node:module';

const isMissing = process.argv[2] === 'missing';
const loaded: string[] = [];
registerHooks({
  resolve(specifier, context, next) {
    if (isMissing && specifier === '@opentelemetry/sdk-trace')
      throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    return next(specifier, context);
  },
  load(url, context, next) {
    if (/@opentelemetry\/|\/src\/telemetry\//.test(url)) loaded.push(url);
    return next(url, context);
  },
});

const { startGatehouse } = await import('../../../support/gatehouse.ts');
const gate = await startGatehouse();
await gate.stop();
const warnings = gate.log.filter((line) => line.includes('"warn"'));
console.log(JSON.stringify({ loaded, warnings }));
