import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestCertificate } from '../../../support/certificate.ts';
import { repository } from '../../../support/program.ts';
import type { Configuration, ProxyProgram } from './proxy-program.ts';

/** Whether Gatehouse has the host for itself, or stands below a path of another site. */
export type Form = 'host' | 'path';
export const forms: readonly Form[] = ['host', 'path'];

/** Where the example files of each proxy stand, below config/proxies. */
const files: Record<ProxyProgram | 'traefik' | 'cloudflared', (form: Form) => string> = {
  nginx: (form) => `nginx/${form}.conf`,
  apache2: (form) => `apache/${form}.conf`,
  haproxy: (form) => `haproxy/${form}.cfg`,
  caddy: (form) => `caddy/${form}.caddyfile`,
  traefik: (form) => `traefik/${form}.yml`,
  cloudflared: (form) => `cloudflared/${form}.yml`,
};

/** The text of an example, as it stands in config/proxies. */
export function readExample(program: keyof typeof files, form: Form): string {
  return readFileSync(join(repository, 'config/proxies', files[program](form)), 'utf8');
}

/** Modules that Debian's Apache has on, with those that the example asks for. */
const apacheModules =
  `access_compat alias auth_basic authn_core authn_file authz_core authz_host authz_user autoindex deflate dir env filter
  mime mpm_event negotiation reqtimeout setenvif status socache_shmcb ssl proxy proxy_http headers`.split(
    /\s+/,
  );

/** What Debian's packages put around a site. */
const around: Record<ProxyProgram, (site: string, listen: number, folder: string) => string> = {
  nginx: (site, _listen, folder) => `
daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 768; }
http {
  sendfile on; tcp_nopush on; types_hash_max_size 2048; gzip on;
  default_type application/octet-stream;
  access_log off;
  client_body_temp_path ${folder}/a; proxy_temp_path ${folder}/b; fastcgi_temp_path ${folder}/c;
  uwsgi_temp_path ${folder}/d; scgi_temp_path ${folder}/e;
  ${site}
}`,
  apache2: (site, listen, folder) => `
ServerRoot /usr/lib/apache2
${apacheModules.map((name) => `LoadModule ${name}_module modules/mod_${name}.so`).join('\n')}
User www-data
Group www-data
ServerName localhost
Listen 127.0.0.1:${listen}
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
TypesConfig /dev/null
DefaultRuntimeDir ${folder}
DocumentRoot ${folder}/files
Timeout 300
KeepAlive On
KeepAliveTimeout 5
AddOutputFilterByType DEFLATE text/html text/plain text/xml text/css text/javascript
RequestReadTimeout header=20-40,minrate=500
RequestReadTimeout body=10,minrate=500
${site}`,
  haproxy: (site) => site,
  caddy: (site) => `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`,
};

/**
 * An example of config/proxies with its certificate, ports and servers replaced, and around it what the proxy's package
 * has: nothing of the example itself is left out or added.
 * @param site the port of the site beside Gatehouse
 * @param change what a test makes of the text
 */
export function exampleConfiguration(
  program: ProxyProgram,
  form: Form,
  { cert, key }: TestCertificate,
  site: number,
  change: (text: string) => string = (text) => text,
): Configuration {
  return ({ listen, upstream }, folder) => {
    writeFileSync(join(folder, 'cert.pem'), cert);
    writeFileSync(join(folder, 'key.pem'), key);
    writeFileSync(join(folder, 'both.pem'), `${cert}${key}`);
    const text = change(readExample(program, form))
      .replaceAll('127.0.0.1:3000', `127.0.0.1:${upstream}`)
      .replaceAll('127.0.0.1:8000', `127.0.0.1:${site}`)
      .replaceAll('/etc/letsencrypt/live/mcp.example.com/fullchain.pem', `${folder}/cert.pem`)
      .replaceAll('/etc/letsencrypt/live/mcp.example.com/privkey.pem', `${folder}/key.pem`)
      .replaceAll('/etc/haproxy/certs/mcp.example.com.pem', `${folder}/both.pem`)
      .replaceAll('listen 443 ', `listen 127.0.0.1:${listen} `)
      .replaceAll('bind :443 ', `bind 127.0.0.1:${listen} `)
      .replaceAll('*:443', `127.0.0.1:${listen}`)
      .replace(
        /^mcp\.example\.com \{$/m,
        `localhost:${listen} {\n\tbind 127.0.0.1\n\ttls ${folder}/cert.pem ${folder}/key.pem`,
      )
      .replaceAll(/^(\s*(?:server_name|ServerName)) mcp\.example\.com/gm, '$1 localhost');
    return around[program](text, listen, folder);
  };
}
