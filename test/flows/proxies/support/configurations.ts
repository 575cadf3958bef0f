import { upstreamPlaceholder } from '../../../../src/doctor/proxy/hints.ts';
import type { Configuration, ProxyProgram } from './proxy-program.ts';

/** Lines as they stand in a configuration of one server under `/`, beside the ones every test needs. */
export interface Lines {
  /** Around all servers: nginx `http`, Apache server, HAProxy `global`, Caddy global options. */
  around?: string;
  /** Beside the place: nginx `server`, Apache server, HAProxy `frontend`, Caddy site. */
  beside?: string;
  /** Within the place that leads to the server: nginx `location`, Apache server, HAProxy `backend`, Caddy `reverse_proxy`. */
  within?: string;
  /** In place of the place and all that stands in it. */
  instead?: string;
}

const modules = [
  'mpm_event',
  'proxy',
  'proxy_http',
  'headers',
  'setenvif',
  'deflate',
  'filter',
  'buffer',
  'cache',
  'cache_disk',
  'rewrite',
  'alias',
  'dir',
  'mime',
  'authz_core',
];

/** What passes the name on, in the forms of the hints. A test of exactly that leaves it out. */
const sound: Record<ProxyProgram, string> = {
  nginx: 'proxy_set_header Host $http_host;\nproxy_http_version 1.1;\nproxy_set_header Connection "";',
  apache2: 'ProxyPreserveHost On',
  haproxy: '',
  caddy: '',
};

const build: Record<ProxyProgram, (lines: Required<Lines>) => Configuration> = {
  nginx:
    ({ around, beside, within, instead }) =>
    ({ listen, upstream }, folder) =>
      `
daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/a; proxy_temp_path ${folder}/b; fastcgi_temp_path ${folder}/c;
  uwsgi_temp_path ${folder}/d; scgi_temp_path ${folder}/e;
  ${around.replaceAll('FOLDER', folder)}
  server {
    listen 127.0.0.1:${listen};
    root ${folder}/files;
    ${beside}
    ${instead || `location / { proxy_pass http://127.0.0.1:${upstream}; ${within} }`}
  }
}`,
  apache2:
    ({ around, beside, within, instead }) =>
    ({ listen, upstream }, folder) =>
      `
ServerRoot /usr/lib/apache2
${modules.map((name) => `LoadModule ${name}_module modules/mod_${name}.so`).join('\n')}
User www-data
Group www-data
ServerName localhost
Listen 127.0.0.1:${listen}
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
TypesConfig /dev/null
DocumentRoot ${folder}/files
DefaultRuntimeDir ${folder}
${around.replaceAll('FOLDER', folder)}
${beside}
${instead || `${within}\nProxyPass / http://127.0.0.1:${upstream}/`}
`,
  haproxy:
    ({ around, beside, within }) =>
    ({ listen, upstream }) =>
      `
global
  ${around}
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
frontend front
  bind 127.0.0.1:${listen}
  ${beside}
  default_backend back
backend back
  ${within}
  server one 127.0.0.1:${upstream}
`,
  caddy:
    ({ around, beside, within, instead }) =>
    ({ listen, upstream }) =>
      `
{
  admin off
  auto_https off
  ${around}
}
http://:${listen} {
  bind 127.0.0.1
  ${beside}
  ${instead || `reverse_proxy 127.0.0.1:${upstream} {\n${within}\n}`}
}
`,
};

/**
 * The configuration of a proxy before one server, with lines of a test in it. `127.0.0.1:8080` in a line means the
 * server, as in hints.
 * @param program which proxy
 * @param lines what it adds
 * @param base lines every place has; those that pass the name on unless told
 */
export function configuration(
  program: ProxyProgram,
  lines: Lines = {},
  base: string = sound[program],
): Configuration {
  const filled = { around: '', beside: '', instead: '', ...lines, within: `${base}\n${lines.within ?? ''}` };
  return (ports, folder) =>
    build[program](filled)(ports, folder).replaceAll(upstreamPlaceholder, `127.0.0.1:${ports.upstream}`);
}
