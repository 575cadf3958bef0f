import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { root } from './sources.ts';

interface LockedPackage {
  optionalDependencies?: Record<string, string>;
  hasInstallScript?: boolean;
  resolved?: string;
  os?: string[];
}

function readLock(path: string): Record<string, LockedPackage> {
  const { packages } = JSON.parse(readFileSync(new URL(path, root), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  return packages;
}

const packages = readLock('package-lock.json');

describe('package-lock.json', () => {
  it('holds every optional package of every platform; npm ci refuses it otherwise', () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !(`node_modules/${name}` in packages || `${path}/node_modules/${name}` in packages))
        .map((name) => `${name} of ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it.each(['package-lock.json', 'bench/peers/package-lock.json', 'test/peers/servers/package-lock.json'])(
    'names no download address, so that any registry serves: %s',
    (path) => {
      const locked = Object.entries(readLock(path));
      expect(locked.length).toBeGreaterThan(0);
      expect(locked.filter(([, { resolved }]) => resolved !== undefined).map(([name]) => name)).toEqual([]);
    },
  );

  it('holds on Linux no package with an install script but node, whose script scripts/install.sh runs', () => {
    const scripted = Object.entries(packages)
      .filter(([, { hasInstallScript, os = ['linux'] }]) => hasInstallScript === true && os.includes('linux'))
      .map(([path]) => path);
    expect(scripted).toEqual(['node_modules/node']);
  });
});
