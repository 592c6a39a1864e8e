//! The runtimes against real programs and a real HTTP server.

mod command;
mod endpoint;
mod http;
