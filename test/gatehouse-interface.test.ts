import { describe, expect, it, onTestFinished } from 'vitest';
import { createGatehouse, type Gatehouse, type GatehouseOptions } from '../src/index.ts';
import { openDataFolder } from '../src/storage/sqlite/index.ts';
import { testFolder } from './client/support/folder.ts';

/** What plain JavaScript can call it with. */
const create = (options?: unknown): Promise<unknown> => createGatehouse(options as GatehouseOptions);
const publicUrl = 'https://mcp.example.com';

describe('createGatehouse', () => {
  it('says what it takes when it is given nothing', async () => {
    await expect(create()).rejects.toThrow(
      'createGatehouse takes an object: { publicUrl, storage, keys, … }',
    );
  });

  it('says where storage and keys come from when they are missing', async () => {
    const from =
      'is required: spread the result of openDataFolder() from mcp-gatehouse/sqlite into the options';
    await expect(create({ publicUrl })).rejects.toMatchObject({
      name: 'SettingsRefused',
      problems: [`storage: ${from}`, `keys: ${from}`],
    });
  });

  describe('over a data folder', () => {
    async function createOver(options: object): Promise<unknown> {
      const folder = await openDataFolder(testFolder());
      onTestFinished(() => folder.storage.close());
      return create({ publicUrl, ...folder, ...options });
    }

    it('takes a server or a backend, not both', async () => {
      const both = { server: () => undefined, backend: { command: 'node' } };
      await expect(createOver(both)).rejects.toThrow('backend: cannot be used with server');
    });

    it.each([
      [console, 'isLevelEnabled'],
      [{ info: () => undefined }, 'debug, warn, error, isLevelEnabled'],
      ['debug', 'debug, info, warn, error, isLevelEnabled'],
    ])('takes a logger that is one: %#', async (logger, lacking) => {
      await expect(createOver({ logger })).rejects.toMatchObject({
        problems: [
          `logger: has no ${lacking}: give a logger of pino, or leave it out for JSON lines on standard error`,
        ],
      });
    });

    const methods = {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: () => undefined,
      isLevelEnabled: () => false,
    };

    it.each([
      ['has what is called, and nothing else', methods],
      ['is a function with methods', Object.assign(() => undefined, methods)],
      ['is null, as if there were none', null],
    ])('takes a logger that %s', async (_which, logger) => {
      const log = { level: 'silent' };
      const gatehouse = await createOver({ logger, log });
      await (gatehouse as Gatehouse).close();
    });

    it('knows which part of it was misspelt, as it knows the settings', async () => {
      await expect(
        createOver({ sever: () => undefined, audits: {}, log: { logger: {} } }),
      ).rejects.toMatchObject({
        problems: [
          'log.logger: there is no such setting',
          'sever: there is no such setting; did you mean server?',
          'audits: there is no such setting; did you mean audit?',
        ],
      });
    });
  });
});
