import { logs, SeverityNumber, trace } from '@opentelemetry/api';
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createErrorOutput } from '../../src/gateway/backends/stdio/stdio-process.ts';
import { createLogger, type Logger } from '../../src/observability/logger.ts';
import { runTraced } from '../../src/observability/trace-context.ts';
import { startLogExport, toLogRecord } from '../../src/telemetry/log-export.ts';

const traced = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', isOver: false };

/** Registers an SDK for the lines of a logger; returns its exporter, and what ends the export. */
function register(logger: Logger) {
  const exporter = new InMemoryLogRecordExporter();
  const processors = [new SimpleLogRecordProcessor({ exporter })];
  logs.setGlobalLoggerProvider(new LoggerProvider({ processors }));
  const end = startLogExport({ environment: {}, version: '1', logger });
  onTestFinished(async () => {
    await end();
    logs.disable();
  });
  return { exporter, end };
}

describe('A line of the log', () => {
  it('goes to the SDK that the process has registered, with its severity, members and trace', () => {
    const logger = createLogger('debug', () => undefined);
    const { exporter } = register(logger);
    runTraced(traced, () =>
      logger.warn({ route: '/notes', tries: 2, of: ['a', { b: true }] }, 'a call failed'),
    );
    logger.debug({ path: '/mcp' });
    const [failed, quiet] = exporter.getFinishedLogRecords();
    expect(failed).toMatchObject({
      severityNumber: SeverityNumber.WARN,
      severityText: 'warn',
      body: 'a call failed',
    });
    expect(failed?.attributes).toEqual({ route: '/notes', tries: 2, of: ['a', { b: true }] });
    expect(failed?.spanContext).toMatchObject({ traceId: traced.traceId, spanId: traced.spanId });
    expect(quiet?.severityNumber).toBe(SeverityNumber.DEBUG);
    expect(quiet?.body).toBe('{"path":"/mcp"}');
    expect(quiet?.spanContext).toBeUndefined();
  });

  it('is redacted as it is printed (T-194)', () => {
    const printed: string[] = [];
    const logger = createLogger('info', (line) => printed.push(line));
    const { exporter } = register(logger);
    const err = Object.assign(new Error('it failed'), {
      token: 'SECRET',
      code: 'SQLITE_FULL',
      detail: 'SECRET',
    });
    logger.error({ err, password: 'SECRET', body: { cookie: 'SECRET' } }, 'an event');
    const [record] = exporter.getFinishedLogRecords();
    expect(record?.attributes).toMatchObject({
      password: '[redacted]',
      body: { cookie: '[redacted]' },
      'exception.type': 'Error',
      'exception.message': 'it failed',
      'exception.stacktrace': expect.stringContaining('log-export.test'),
      err: { errorCode: 'SQLITE_FULL', token: '[redacted]' },
    });
    expect(printed).toHaveLength(1);
    expect(JSON.stringify([record?.attributes, record?.body])).not.toContain('SECRET');
  });

  it('is sent without e-mail addresses', () => {
    const logger = createLogger('info', () => undefined);
    const { exporter } = register(logger);
    logger.info({ audit: 'login.failed', email: 'ada@example.com', account: 'acct_1' });
    logger.error(
      { err: new Error('no\nada@example.com'), of: [{ by: 'a/b@example.com' }] },
      'ada@example.com',
    );
    const [event, failure] = exporter.getFinishedLogRecords();
    expect(event?.attributes).toEqual({ audit: 'login.failed', email: '[address]', account: 'acct_1' });
    expect(event?.body).toBe('{"audit":"login.failed","email":"[address]","account":"acct_1"}');
    expect(failure).toMatchObject({
      body: '[address]',
      attributes: { 'exception.message': 'no\n[address]', of: [{ by: '[address]' }] },
    });
    expect(JSON.stringify(failure?.attributes)).not.toContain('@example.com');
  });

  it('is sent without the text that a backend wrote to its standard error', async () => {
    const printed: string[] = [];
    const logger = createLogger('info', (line) => printed.push(line));
    const { exporter } = register(logger);
    const take = createErrorOutput({ backend: '/notes', pid: 7, logger, secrets: [], nowMs: Date.now });
    take(new TextEncoder().encode('failed with a canary\n'));
    const [record] = exporter.getFinishedLogRecords();
    expect(printed.join('')).toContain('a canary');
    expect(record?.body).toBe('a backend wrote to its standard error');
    expect(record?.attributes).toEqual({ backend: '/notes', pid: 7 });
  });

  it('is sent once if two exports read it, and no more when both have ended', async () => {
    const logger = createLogger('info', () => undefined);
    const { exporter, end } = register(logger);
    const endOther = startLogExport({ environment: {}, version: '1', logger });
    logger.info('one');
    await end();
    logger.info('two');
    await endOther();
    logger.info('three');
    expect(exporter.getFinishedLogRecords().map(({ body }) => body)).toEqual(['one', 'two']);
  });

  it('has the time at which it was printed, and no span that runs by chance', () => {
    const line = '{"level":"error","time":"2026-01-02T03:04:05.006Z","err":"a word","msg":"it failed"}\n';
    const { timestamp, attributes, context, severityNumber } = toLogRecord(line);
    expect(timestamp).toEqual(new Date('2026-01-02T03:04:05.006Z'));
    expect(attributes).toEqual({ err: 'a word' });
    expect(severityNumber).toBe(SeverityNumber.ERROR);
    expect(context && trace.getSpanContext(context)).toBeUndefined();
  });
});
