//! Values of a project that are computed once per revision of its jobs.

use std::collections::HashMap;
use std::sync::Arc;

use model::id::ProjectId;
use parking_lot::Mutex;

/// The last value of each project, with the revision it was computed at.
pub(super) struct PerRevision<T>(Mutex<HashMap<ProjectId, (i64, Arc<T>)>>);

impl<T> Default for PerRevision<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> PerRevision<T> {
    /// The value of this revision: cached, or else computed by `compute`.
    pub(super) async fn get<E>(
        &self,
        project: &ProjectId,
        revision: i64,
        compute: impl Future<Output = Result<T, E>>,
    ) -> Result<Arc<T>, E> {
        let stored = self.0.lock().get(project).cloned();
        if let Some((_, value)) = stored.filter(|(at, _)| *at == revision) {
            return Ok(value);
        }
        let value = Arc::new(compute.await?);
        let entry = (revision, value.clone());
        self.0.lock().insert(project.clone(), entry);
        Ok(value)
    }
}
