export * from './connect-redis.js';
export * from './create-producer.js';
export * from './hints.js';
export * from './job-catalogue.js';
export * from './start-consumer.js';
