// Required by programs that are started without NODE_COMPILE_CACHE (scripts/test): they find what they load compiled.
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');

enableCompileCache(join(__dirname, '../../../node_modules/.cache/compiled'));
