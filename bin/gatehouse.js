#!/usr/bin/env node
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 12)) {
  process.stderr.write(
    `gatehouse needs Node.js 22.12 or later; this is ${process.version}. Install a newer Node.js and run it again.\n`,
  );
  process.exitCode = 2;
} else {
  const { keepCompiledCode } = await import('../dist/compiled-code.js');
  keepCompiledCode(process.env);
  await import('../dist/cli.js');
}
