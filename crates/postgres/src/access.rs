//! Gives the server's account access through directories that are closed to it, such as a home with mode 0700. It gets
//! the search permission only, with its own ACL entry where the system supports ACLs.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::account::Account;
use crate::error::{PathContext, PostgresError};

const SEARCH: u16 = 0o1;

/// Grants the account the search permission on every ancestor of `path`, and on `path` itself if it is a directory.
pub(crate) fn grant_search(account: &Account, path: &Path) -> Result<(), PostgresError> {
    let Some((uid, gid)) = account.other() else { return Ok(()) };
    for dir in path.ancestors().filter(|dir| dir.is_dir()) {
        let meta = fs::metadata(dir).path_context("read", dir)?;
        let mode = meta.mode() & 0o777;
        let list = acl::read(dir).unwrap_or_else(|| acl::from_mode(mode));
        if acl::may_search(&list, uid, gid, meta.uid(), meta.gid()) {
            continue;
        }
        match acl::write(dir, &acl::granting(&list, uid)) {
            Ok(()) => tracing::info!(dir = %dir.display(), uid, "granted the search permission by ACL"),
            Err(error) => {
                tracing::warn!(dir = %dir.display(), uid, %error, "ACLs are not supported; made the directory searchable for all users (chmod o+x)");
                fs::set_permissions(dir, fs::Permissions::from_mode(mode | 0o001)).path_context("open", dir)?;
            }
        }
    }
    Ok(())
}

/// POSIX access control lists in the kernel's format, an extended attribute.
mod acl {
    use std::io;
    use std::path::Path;

    use super::SEARCH;

    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Entry {
        pub tag: u16,
        pub id: u32,
        pub perm: u16,
    }

    const USER_OBJ: u16 = 0x01;
    const USER: u16 = 0x02;
    const GROUP_OBJ: u16 = 0x04;
    const GROUP: u16 = 0x08;
    const MASK: u16 = 0x10;
    const OTHER: u16 = 0x20;
    /// The id of entries without a user or group.
    const NOBODY: u32 = u32::MAX;

    pub fn from_mode(mode: u32) -> Vec<Entry> {
        let entry = |tag, shift: u32| Entry { tag, id: NOBODY, perm: (mode >> shift & 0o7) as u16 };
        vec![entry(USER_OBJ, 6), entry(GROUP_OBJ, 3), entry(OTHER, 0)]
    }

    fn perm(list: &[Entry], tag: u16, id: u32) -> Option<u16> {
        list.iter().find(|e| e.tag == tag && e.id == id).map(|e| e.perm)
    }

    /// Applies the kernel's rule: the first class that matches decides.
    pub fn may_search(list: &[Entry], uid: u32, gid: u32, owner: u32, group: u32) -> bool {
        let mask = perm(list, MASK, NOBODY).unwrap_or(0o7);
        let granted = if uid == owner {
            perm(list, USER_OBJ, NOBODY)
        } else if let Some(user) = perm(list, USER, uid) {
            Some(user & mask)
        } else {
            let of_group = perm(list, GROUP_OBJ, NOBODY).filter(|_| gid == group);
            let named = perm(list, GROUP, gid);
            match (of_group, named) {
                (None, None) => perm(list, OTHER, NOBODY),
                (a, b) => Some((a.unwrap_or(0) | b.unwrap_or(0)) & mask),
            }
        };
        granted.is_some_and(|perm| perm & SEARCH != 0)
    }

    /// Adds the search permission for one user. All others keep exactly what they had: a wider mask would restore
    /// masked permissions, so the mask is applied to the entries first.
    pub fn granting(list: &[Entry], uid: u32) -> Vec<Entry> {
        let mask = perm(list, MASK, NOBODY).unwrap_or(0o7);
        let masked = |e: &Entry| matches!(e.tag, USER | GROUP_OBJ | GROUP);
        let mut new: Vec<Entry> = list
            .iter()
            .filter(|e| e.tag != MASK)
            .map(|e| if masked(e) { Entry { perm: e.perm & mask, ..*e } } else { *e })
            .collect();
        match new.iter_mut().find(|e| e.tag == USER && e.id == uid) {
            Some(entry) => entry.perm |= SEARCH,
            None => new.push(Entry { tag: USER, id: uid, perm: SEARCH }),
        }
        let mask = new.iter().filter(|e| masked(e)).fold(0, |all, e| all | e.perm);
        new.push(Entry { tag: MASK, id: NOBODY, perm: mask });
        new.sort();
        new
    }

    const VERSION: [u8; 4] = 2u32.to_le_bytes();

    pub fn encode(list: &[Entry]) -> Vec<u8> {
        let mut bytes = VERSION.to_vec();
        for entry in list {
            bytes.extend(entry.tag.to_le_bytes());
            bytes.extend(entry.perm.to_le_bytes());
            bytes.extend(entry.id.to_le_bytes());
        }
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Option<Vec<Entry>> {
        let (entries, []) = bytes.strip_prefix(&VERSION)?.as_chunks::<8>() else { return None };
        let entry = |&[t0, t1, p0, p1, i0, i1, i2, i3]: &[u8; 8]| Entry {
            tag: u16::from_le_bytes([t0, t1]),
            perm: u16::from_le_bytes([p0, p1]),
            id: u32::from_le_bytes([i0, i1, i2, i3]),
        };
        Some(entries.iter().map(entry).collect())
    }

    #[cfg(target_os = "linux")]
    const ATTRIBUTE: &str = "system.posix_acl_access";

    #[cfg(target_os = "linux")]
    pub fn read(dir: &Path) -> Option<Vec<Entry>> {
        let mut buffer = vec![0; 64 * 1024];
        let length = rustix::fs::getxattr(dir, ATTRIBUTE, &mut buffer[..]).ok()?;
        decode(&buffer[..length])
    }

    #[cfg(target_os = "linux")]
    pub fn write(dir: &Path, list: &[Entry]) -> io::Result<()> {
        let flags = rustix::fs::XattrFlags::empty();
        rustix::fs::setxattr(dir, ATTRIBUTE, &encode(list), flags).map_err(io::Error::from)
    }

    #[cfg(not(target_os = "linux"))]
    pub fn read(_: &Path) -> Option<Vec<Entry>> {
        None
    }

    #[cfg(not(target_os = "linux"))]
    pub fn write(_: &Path, _: &[Entry]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const OWNER: u32 = 0;
        const ACCOUNT: u32 = 101;

        #[test]
        fn only_the_account_gets_the_search_permission() {
            for mode in [0o700, 0o750, 0o740] {
                let list = granting(&from_mode(mode), ACCOUNT);
                assert!(may_search(&list, ACCOUNT, 104, OWNER, 0));
                assert!(!may_search(&list, 102, 104, OWNER, 0), "another user");
                assert_eq!(
                    may_search(&list, 102, 0, OWNER, 0),
                    mode & 0o010 != 0,
                    "the directory's group, mode {mode:o}"
                );
                assert_eq!(perm(&list, USER, ACCOUNT), Some(SEARCH));
            }
        }

        #[test]
        fn existing_entries_are_kept_and_masked_permissions_stay_masked() {
            let mut list = from_mode(0o700);
            list.push(Entry { tag: USER, id: 7, perm: 0o7 });
            list.push(Entry { tag: MASK, id: NOBODY, perm: 0o4 });
            assert!(!may_search(&list, 7, 7, OWNER, 0));
            let list = granting(&list, ACCOUNT);
            assert!(!may_search(&list, 7, 7, OWNER, 0));
            assert!(may_search(&list, ACCOUNT, 104, OWNER, 0));
            assert_eq!(perm(&list, USER, 7), Some(0o4));
        }

        #[test]
        fn encoding_and_decoding_returns_the_same_list() {
            let list = granting(&from_mode(0o750), ACCOUNT);
            assert!(list.is_sorted(), "the kernel rejects any other order");
            assert_eq!(decode(&encode(&list)), Some(list));
            assert_eq!(decode(b"garbage"), None);
        }
    }
}
