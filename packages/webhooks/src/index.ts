export * from './create-webhook-sender.js';
export * from './post-attempt.js';
export * from './read-endpoint.js';
export * from './resolve-name.js';
export * from './sign-delivery.js';
export * from './validate-address.js';
export * from './validate-url.js';
export * from './webhook-secret.js';
