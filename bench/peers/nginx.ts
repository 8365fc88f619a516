import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Server, startServer } from '../processes.ts';

/** nginx with one worker, tuned for static files in `folder`; it sends NAME.gz next to a file as its gzip form. */
export function startNginx(folder: string): Promise<Server> {
  mkdirSync(join(folder, 'nginx'), { recursive: true });
  return startServer((port) => {
    const config = join(folder, 'nginx', 'nginx.conf');
    writeFileSync(
      config,
      `daemon off; worker_processes 1; pid ${folder}/nginx/pid; error_log /dev/stderr crit;
events { worker_connections 2048; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 10000000;
  open_file_cache max=100 inactive=1h; default_type application/json;
  client_body_temp_path ${folder}/nginx/b; proxy_temp_path ${folder}/nginx/p;
  fastcgi_temp_path ${folder}/nginx/f; uwsgi_temp_path ${folder}/nginx/u; scgi_temp_path ${folder}/nginx/s;
  server { listen 127.0.0.1:${port}; root ${folder}; gzip_static on; }
}
`,
    );
    return ['nginx', '-c', config];
  });
}
