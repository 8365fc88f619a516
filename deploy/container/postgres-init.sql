-- Run once, when the volume is empty: the nodes get a role without any right beyond their own database.
\set password `cat /run/secrets/app-password`
CREATE ROLE app LOGIN PASSWORD :'password';
CREATE DATABASE orders OWNER app ENCODING 'UTF8' TEMPLATE template0;
