/**
 * What servers add within the quotes to the ETag of a response that they compress: "-gzip" of Apache, "--gzip" of Jetty, ";gzip" of others. It stays
 * a strong ETag by its form, but names no state that the service knows. A file of its own, since the service and the client library use it.
 */
export const CODING_SUFFIX = /(?:--?|;)(?:gzip|br|deflate|zstd)"$/;
