//! The program as its users meet it: configuration, commands, a real server with real clients, and everything that can
//! happen to it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod access;
mod backup;
mod beyond;
mod cli;
mod clients;
mod config;
mod connect;
mod crash;
mod demo;
mod disk;
mod hook;
mod http;
mod load;
mod module;
mod program;
mod proxy;
mod reference;
mod rest;
mod scaleout;
mod serve;
mod session;
mod several;
mod stdio;
mod telemetry;
mod transfer;
mod trouble;
mod verbs;
