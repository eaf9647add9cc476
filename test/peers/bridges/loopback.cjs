// Loaded before a program that listens on every address and has no option
// about it: from then on, ports are of loopback only.
const { Server } = require('node:net');

const listen = Server.prototype.listen;

Server.prototype.listen = function (...args) {
  if (typeof args[0] === 'number') {
    const told = args.filter((a) => typeof a === 'function');
    return listen.call(this, { port: args[0], host: '127.0.0.1' }, ...told);
  }
  return listen.apply(this, args);
};
