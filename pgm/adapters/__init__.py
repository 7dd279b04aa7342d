"""Methods that are not graphical, in scikit-learn's conventions: clusters of rows of numbers."""

from pgm.calls import guard_constructors, guard_methods

from .kmeans import KMeans, OnlineKMeans
from .kmedoids import KMedoids
from .quality import ClusterQuality, cluster_quality

__all__ = ["ClusterQuality", "KMeans", "KMedoids", "OnlineKMeans", "cluster_quality"]

guard_methods([KMeans, KMedoids, OnlineKMeans])
guard_constructors([KMeans, KMedoids, OnlineKMeans])
