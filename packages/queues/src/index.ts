export * from './connect-redis.js';
export * from './create-producer.js';
export * from './enqueue-overdue.js';
export * from './hints.js';
export * from './job-catalogue.js';
export * from './keep-redis-primed.js';
export * from './start-consumer.js';
