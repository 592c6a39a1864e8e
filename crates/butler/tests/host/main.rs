//! End-to-end tests of the real program: configuration, commands, a server with real clients, and failures.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod backup;
mod cli;
mod clients;
mod clock;
mod config;
mod connect;
mod connections;
mod crash;
mod demo;
mod disk;
mod failed_consolidation;
mod hook;
mod http;
mod killed_restore;
mod llm_program;
mod load;
mod module;
mod oauth;
mod program;
mod proxy;
mod reference;
mod reimport;
mod resources;
mod rest;
mod scaleout;
mod secrets;
mod serve;
mod session;
mod several;
mod stdio;
mod telemetry;
mod tokens;
mod transfer;
mod trouble;
mod verbs;
mod web;
